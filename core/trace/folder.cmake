linnet_folder(trace core/trace NEEDS base expr lang ir library graph
  LINKS absl::strings)
