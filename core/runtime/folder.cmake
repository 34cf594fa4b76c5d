linnet_folder(runtime core/runtime NEEDS base expr library graph
  LINKS absl::strings)
