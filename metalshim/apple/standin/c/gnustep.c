// How programs that are built for GNUstep's runtime reach this one: they ask
// for a message's body and call it themselves, and refer to classes by symbol.

struct super {
	id receiver, class;
};

EXPORT void *objc_msg_lookup(id, SEL);
EXPORT void *objc_msg_lookup_super(struct super *, SEL);
EXPORT BOOL sel_isEqual(SEL, SEL);

EXPORT void *objc_msg_lookup(id self, SEL cmd) { return STRICT ? checked_body(self, cmd, ANY_RESULT) : message_body(self, cmd); }

// Nothing inherits from a class that a program could name, so that a message
// to super is one to the receiver.
EXPORT void *objc_msg_lookup_super(struct super *s, SEL cmd) { return objc_msg_lookup(s->receiver, cmd); }

EXPORT BOOL sel_isEqual(SEL a, SEL b) { return a == b; }

// CLASS_SYMBOL names a class for the linker, as version 2 of GNUstep's ABI does
// and as the versions before it did.
#define CLASS_SYMBOL(name, class) \
	extern __typeof__(class) symbol_##name __asm__("._OBJC_CLASS_" #name) __attribute__((alias(#class), visibility("default"))); \
	extern __typeof__(class) old_symbol_##name __asm__("_OBJC_CLASS_" #name) __attribute__((alias(#class), visibility("default")));
CLASS_SYMBOL(NSString, string_class)
CLASS_SYMBOL(NSArray, array_class)
CLASS_SYMBOL(NSMutableArray, mutable_array_class)
CLASS_SYMBOL(NSDictionary, dictionary_class)
CLASS_SYMBOL(NSMutableDictionary, mutable_dictionary_class)
CLASS_SYMBOL(NSError, error_class)
CLASS_SYMBOL(NSURL, url_class)
CLASS_SYMBOL(NSNumber, number_class)
CLASS_SYMBOL(NSData, data_class)
CLASS_SYMBOL(NSProcessInfo, process_class)
CLASS_SYMBOL(NSAutoreleasePool, pool_class)
CLASS_SYMBOL(MTLCompileOptions, options_class)
CLASS_SYMBOL(MTLFunctionConstantValues, constants_class)
CLASS_SYMBOL(MTLComputePipelineDescriptor, descriptor_class)
CLASS_SYMBOL(MTLBinaryArchiveDescriptor, archive_descriptor_class)
CLASS_SYMBOL(MTLResidencySetDescriptor, residency_descriptor_class)
CLASS_SYMBOL(MTLCommandQueueDescriptor, queue_descriptor_class)
CLASS_SYMBOL(MTLCommandBufferDescriptor, commands_descriptor_class)
