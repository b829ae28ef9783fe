// warm-up DIR makes everything of the plan, with the sources DIR/0, DIR/1 … in the
// order of the plan's libraries, and prints what it made.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include "warm_up.cpp"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

int main(int, char **argv) {
	NS::AutoreleasePool *pool = NS::AutoreleasePool::alloc()->init();
	MTL::Device *device = MTL::CreateSystemDefaultDevice();
	std::map<std::string, std::string> texts;
	for (std::size_t i = 0; i < warm_up::libraries().size(); i++) {
		std::ifstream file(std::string(argv[1]) + "/" + std::to_string(i));
		if (!file) continue;
		std::stringstream text;
		text << file.rdbuf();
		texts[warm_up::libraries()[i]] = text.str();
	}
	std::string error;
	{
		warm_up::WarmUp warmUp(device, [&](const char *label) {
			auto found = texts.find(label);
			return warm_up::Source{found == texts.end() ? nullptr : found->second.c_str(), nullptr};
		});
		for (const char *label : warm_up::libraries()) {
			MTL::Library *library = warmUp.library(label, error);
			std::printf("%s\n", library ? library->label()->utf8String() : error.c_str());
		}
		for (const warm_up::Pipeline &p : warm_up::pipelines()) {
			const char *library = warm_up::libraries()[p.library];
			MTL::ComputePipelineState *made = warmUp.pipeline(library, p.function, p.constants, error);
			if (made)
				std::printf("%s %s %lu\n", library, p.function, static_cast<unsigned long>(made->threadExecutionWidth()));
			else
				std::printf("%s\n", error.c_str());
		}
		if (warmUp.wait(error))
			std::printf("ok\n");
		else
			std::printf("first: %s\n", error.c_str());
	}
	device->release();
	pool->release();
}
