// The types that metal-cpp takes from Apple's headers, for tests where these are not.
#pragma once
#include <math.h> // as Apple's does
typedef double CFTimeInterval;
