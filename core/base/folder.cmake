linnet_folder(base core/base LINKS absl::strings)
