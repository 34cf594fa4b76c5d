linnet_folder(library core/library NEEDS base expr lang ir LINKS absl::strings)
linnet_embed(linnet_library core/library/std StdFiles PATTERNS *.linnet)
