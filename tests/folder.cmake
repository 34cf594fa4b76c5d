# Checks that are no unit tests: lint, end-to-end, benchmarks, fuzzers.
# The system's Python, since that is where the packages' modules are.
find_program(Python3_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)

foreach(check IN ITEMS layers text api)
  add_test(NAME lint.${check} COMMAND ${Python3_EXECUTABLE}
    ${PROJECT_SOURCE_DIR}/tests/lint/check_${check}.py ${PROJECT_SOURCE_DIR})
  set_tests_properties(lint.${check} PROPERTIES LABELS lint)
endforeach()
add_test(NAME lint.checks_can_fail COMMAND ${Python3_EXECUTABLE}
  ${PROJECT_SOURCE_DIR}/tests/lint/lint_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(lint.checks_can_fail PROPERTIES LABELS lint)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # Every header compiles alone. Once is enough, and it takes a while.
  add_test(NAME lint.headers COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR}
    --target all_verify_interface_header_sets)
  set_tests_properties(lint.headers PROPERTIES LABELS lint TIMEOUT 1200
    RUN_SERIAL ON)
endif()

# One test program per file; each owns its daemon, folder and socket.
if(TARGET linnetd)
  file(GLOB e2e_tests CONFIGURE_DEPENDS tests/e2e/*_test.py)
  foreach(test IN LISTS e2e_tests)
    cmake_path(GET test STEM stem)
    add_test(NAME e2e.${stem} COMMAND ${Python3_EXECUTABLE} ${test}
      $<TARGET_FILE_DIR:linnetd>)
    set_tests_properties(e2e.${stem} PROPERTIES LABELS e2e TIMEOUT 300)
  endforeach()
endif()

# Text in, text out; see the top of each test for how to rewrite the answers.
file(GLOB golden_tests CONFIGURE_DEPENDS tests/golden/*_test.cc)
foreach(test IN LISTS golden_tests)
  cmake_path(GET test STEM stem)
  add_executable(golden_${stem} ${test})
  target_link_libraries(golden_${stem} PRIVATE linnet_library linnet_warnings
    linnet_test_support GTest::gtest)
  linnet_add_tests(golden_${stem} golden)
endforeach()

file(GLOB benches CONFIGURE_DEPENDS tests/bench/*_bench.cc)
foreach(bench IN LISTS benches)
  cmake_path(GET bench STEM stem)
  add_executable(${stem} ${bench})
  target_link_libraries(${stem} PRIVATE linnet_planner linnet_warnings
    linnet_test_support benchmark::benchmark_main)
endforeach()

if(LINNET_FUZZ)
  add_custom_target(linnet_fuzzers)
  file(GLOB fuzzers CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cc)
  foreach(fuzzer IN LISTS fuzzers)
    cmake_path(GET fuzzer STEM stem)
    add_executable(${stem} ${fuzzer})
    target_link_libraries(${stem} PRIVATE linnet_planner linnet_warnings
      linnet_test_support)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    add_dependencies(linnet_fuzzers ${stem})
  endforeach()
endif()

add_executable(check_tool tests/tools/check_tool.cc)
target_link_libraries(check_tool PRIVATE linnet_lang linnet_library
  linnet_warnings)

# Pages of the docs that programs write.
foreach(page IN ITEMS models accuracy step-times)
  add_executable(${page}_table tests/tools/${page}_table.cc)
  target_link_libraries(${page}_table PRIVATE linnet_planner linnet_warnings)
  add_test(NAME lint.${page}_table COMMAND bash -c
    "set -o pipefail; $<TARGET_FILE:${page}_table> | diff - ${PROJECT_SOURCE_DIR}/docs/${page}.md")
  set_tests_properties(lint.${page}_table PROPERTIES LABELS lint)
endforeach()
