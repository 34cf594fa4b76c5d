linnet_folder(device core/device NEEDS base
  LINKS absl::strings nlohmann_json::nlohmann_json)
linnet_embed(linnet_device core/device DeviceFiles PATTERNS *.json)
