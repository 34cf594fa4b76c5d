linnet_folder(lang core/lang NEEDS base expr LINKS absl::strings)
