linnet_folder(cost core/cost
  NEEDS base expr library graph runtime training device LINKS absl::strings)
