//! As much of objc2-foundation as candle uses: strings, errors, ranges.

use objc2::rc::Retained;
pub struct NSString(pub String);
impl NSString {
    pub fn from_str(s: &str) -> Retained<NSString> {
        Retained::make(NSString(s.to_string()))
    }
    #[allow(non_snake_case)]
    pub fn UTF8String(&self) -> *const std::ffi::c_char {
        c"error".as_ptr()
    }
}
impl std::fmt::Display for NSString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
pub struct NSError(pub String);
impl NSError {
    #[allow(non_snake_case)]
    pub fn localizedDescription(&self) -> Retained<NSString> {
        NSString::from_str(&self.0)
    }
}
impl std::fmt::Display for NSError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
#[derive(Clone, Copy)]
pub struct NSRange {
    pub location: usize,
    pub length: usize,
}
impl NSRange {
    pub fn new(location: usize, length: usize) -> Self {
        NSRange { location, length }
    }
}
pub struct NSURL;
impl NSURL {
    pub fn from_file_path<P: AsRef<std::path::Path>>(_: P) -> Option<Retained<NSURL>> {
        None
    }
}
