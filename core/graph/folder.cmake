linnet_folder(graph core/graph NEEDS base expr LINKS absl::strings)
