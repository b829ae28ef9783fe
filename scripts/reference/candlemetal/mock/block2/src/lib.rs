//! As much of block2 as candle uses: a closure of one argument.

use std::rc::Rc;
pub struct RcBlock<A>(pub Rc<dyn Fn(A)>);
impl<A> RcBlock<A> {
    pub fn new<F: Fn(A) + 'static>(f: F) -> Self {
        RcBlock(Rc::new(f))
    }
    pub fn as_ptr(b: &Self) -> *const RcBlock<A> {
        b
    }
}
