# The protocol as C++: linnet_proto (messages), linnet_grpc (services and the
# client's side of gRPC), linnet_grpc_server (what a server adds).
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

set(proto_out ${PROJECT_BINARY_DIR}/generated)
file(GLOB proto_files CONFIGURE_DEPENDS proto/linnet/v1/*.proto)
file(MAKE_DIRECTORY ${proto_out})
set(message_sources)
set(service_sources)
foreach(file IN LISTS proto_files)
  cmake_path(GET file STEM stem)
  set(out ${proto_out}/linnet/v1/${stem})
  add_custom_command(
    OUTPUT ${out}.pb.cc ${out}.pb.h ${out}.grpc.pb.cc ${out}.grpc.pb.h
    COMMAND ${PROTOC} --cpp_out=${proto_out} --grpc_out=${proto_out}
      --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}
      -I ${PROJECT_SOURCE_DIR}/proto ${file}
    DEPENDS ${proto_files} VERBATIM)
  list(APPEND message_sources ${out}.pb.cc)
  list(APPEND service_sources ${out}.grpc.pb.cc)
endforeach()

# The client must start in milliseconds, and loading some eighty shared
# libraries takes longer than that: release builds link the packages' archives.
function(linnet_package_library name)
  if(LINNET_STATIC)
    find_library(LINNET_LIBRARY_${name} NAMES lib${name}.a REQUIRED)
  else()
    find_library(LINNET_LIBRARY_${name} NAMES ${name} REQUIRED)
  endif()
endfunction()
# The shared reflection library brings the gRPC with TLS with it, and a process
# that loads both kinds of gRPC never gets through grpc_init(): each registers the
# trace flags of the other again.
if(LINNET_STATIC)
  set(grpc_kind _unsecure)
else()
  set(grpc_kind "")
endif()
set(grpc_libraries)
foreach(name IN ITEMS grpc++${grpc_kind} grpc${grpc_kind} gpr upb address_sorting
    re2 cares z)
  linnet_package_library(${name})
  list(APPEND grpc_libraries ${LINNET_LIBRARY_${name}})
endforeach()
linnet_package_library(protobuf)
linnet_package_library(grpc++_reflection)

add_library(linnet_proto STATIC ${message_sources})
target_include_directories(linnet_proto SYSTEM PUBLIC ${proto_out})
target_link_libraries(linnet_proto PUBLIC ${LINNET_LIBRARY_protobuf}
  Threads::Threads)

add_library(linnet_grpc STATIC ${service_sources})
target_link_libraries(linnet_grpc PUBLIC linnet_proto ${grpc_libraries}
  absl::any_invocable absl::bind_front absl::cleanup absl::cord
  absl::flat_hash_map absl::flat_hash_set absl::function_ref absl::hash
  absl::inlined_vector absl::memory absl::optional absl::random_random
  absl::span absl::status absl::statusor absl::str_format absl::strings
  absl::synchronization absl::time absl::utility absl::variant ${CMAKE_DL_LIBS})

add_library(linnet_grpc_server INTERFACE)
target_link_libraries(linnet_grpc_server INTERFACE
  # The reflection service registers itself, which an archive would drop.
  $<$<BOOL:${LINNET_STATIC}>:-Wl,--whole-archive>
  ${LINNET_LIBRARY_grpc++_reflection}
  $<$<BOOL:${LINNET_STATIC}>:-Wl,--no-whole-archive>
  linnet_grpc)
