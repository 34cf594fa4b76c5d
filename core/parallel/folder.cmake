linnet_folder(parallel core/parallel NEEDS base expr graph runtime training
  LINKS absl::strings)
