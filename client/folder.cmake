# The client library, the commands, and linnet itself. No engine in any of them.
linnet_folder(client_api client/api NEEDS base grpc
  LINKS absl::strings absl::time nlohmann_json::nlohmann_json)
linnet_folder(client_render client/render NEEDS base proto LINKS absl::strings)
linnet_folder(client_commands client/commands NEEDS base client_api client_render
  LINKS absl::strings)
target_compile_definitions(linnet_client_commands
  PRIVATE LINNET_VERSION="${PROJECT_VERSION}")

add_executable(linnet client/main.cc)
target_link_libraries(linnet PRIVATE linnet_client_commands linnet_warnings)
if(LINNET_STATIC)
  # Nothing to relocate and few symbols to look up at every start.
  target_link_options(linnet PRIVATE -static-libstdc++ -static-libgcc -no-pie)
endif()
