linnet_folder(zoo core/zoo NEEDS base expr lang library
  LINKS absl::strings nlohmann_json::nlohmann_json)
linnet_embed(linnet_zoo core/zoo/cards ZooFiles
  PATTERNS *.linnet *.toml *.json)
linnet_embed(linnet_zoo core/zoo/families FamilyFiles
  PATTERNS *.linnet *.toml)
