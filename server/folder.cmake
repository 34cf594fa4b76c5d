# linnetd and its libraries, lowest first.
find_package(prometheus-cpp REQUIRED)
# The package's own target would ask for a compiled library of it.
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)

linnet_folder(server_log server/log NEEDS base LINKS absl::strings absl::time)
linnet_folder(server_config server/config NEEDS base LINKS absl::time)
linnet_folder(server_metrics server/metrics NEEDS base
  LINKS absl::time prometheus-cpp::core prometheus-cpp::pull)
linnet_folder(server_cache server/cache NEEDS base planner server_metrics
  LINKS absl::synchronization Threads::Threads)
linnet_folder(server_rpc server/rpc
  NEEDS base planner grpc server_cache server_metrics server_log)
linnet_folder(server_lifecycle server/lifecycle
  NEEDS base grpc_server server_config server_metrics server_cache server_rpc
    server_log)
target_compile_definitions(linnet_server_lifecycle
  PRIVATE LINNET_VERSION="${PROJECT_VERSION}")

add_executable(linnetd server/main.cc)
target_compile_definitions(linnetd PRIVATE LINNET_VERSION="${PROJECT_VERSION}")
target_link_libraries(linnetd PRIVATE linnet_server_lifecycle linnet_warnings)
