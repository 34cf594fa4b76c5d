linnet_folder(expr core/expr NEEDS base LINKS absl::strings)
