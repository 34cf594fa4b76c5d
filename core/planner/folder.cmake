linnet_folder(planner core/planner
  NEEDS base expr lang ir library zoo graph trace runtime training parallel device cost
  LINKS absl::strings absl::cord)
