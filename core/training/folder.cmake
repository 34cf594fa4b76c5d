linnet_folder(training core/training NEEDS base expr graph runtime
  LINKS absl::strings)
