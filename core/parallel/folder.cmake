linnet_folder(parallel core/parallel NEEDS base expr library graph runtime
  training
  LINKS absl::strings)
