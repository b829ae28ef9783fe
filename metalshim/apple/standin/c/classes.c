// all_classes is class i, null at the end.

static struct class *all_classes(u32 i) {
	static struct class *const classes[] = {
		&string_class, &bytes_class, &array_class, &mutable_array_class, &dictionary_class, &mutable_dictionary_class,
		&error_class, &url_class, &number_class, &data_class, &process_class, &pool_class,
		&device_class, &architecture_class, &options_class, &library_class, &function_class, &constants_class,
		&pipeline_class, &descriptor_class, &archive_class, &archive_descriptor_class,
		&buffer_class, &fence_class, &event_class, &shared_event_class, &residency_class, &residency_descriptor_class,
		&queue_class, &queue_descriptor_class, &commands_class, &commands_descriptor_class, &compute_class, &blit_class,
		&dispatch_data_class, &semaphore_class, &group_class, &dispatch_queue_class,
	};
	return i < sizeof classes / sizeof *classes ? classes[i] : NULL;
}
