linnet_folder(base core/base LINKS absl::strings
  nlohmann_json::nlohmann_json)
