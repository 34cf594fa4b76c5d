# The protocol as C++: linnet_proto (messages) and linnet_grpc (services).
find_package(Protobuf REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

file(GLOB proto_files CONFIGURE_DEPENDS proto/linnet/v1/*.proto)
set(proto_out ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${proto_out})
set(message_sources)
set(service_sources)
foreach(file IN LISTS proto_files)
  cmake_path(GET file STEM stem)
  set(out ${proto_out}/linnet/v1/${stem})
  add_custom_command(
    OUTPUT ${out}.pb.cc ${out}.pb.h ${out}.grpc.pb.cc ${out}.grpc.pb.h
    COMMAND protobuf::protoc --cpp_out=${proto_out} --grpc_out=${proto_out}
      --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}
      -I ${PROJECT_SOURCE_DIR}/proto ${file}
    DEPENDS ${proto_files} VERBATIM)
  list(APPEND message_sources ${out}.pb.cc)
  list(APPEND service_sources ${out}.grpc.pb.cc)
endforeach()

add_library(linnet_proto STATIC ${message_sources})
target_include_directories(linnet_proto SYSTEM PUBLIC ${proto_out})
target_link_libraries(linnet_proto PUBLIC ${LINNET_PROTOBUF})

add_library(linnet_grpc STATIC ${service_sources})
target_link_libraries(linnet_grpc PUBLIC linnet_proto ${LINNET_GRPC})
