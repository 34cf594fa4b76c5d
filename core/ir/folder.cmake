linnet_folder(ir core/ir NEEDS base expr lang TEST_NEEDS library zoo)
