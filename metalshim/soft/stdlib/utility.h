// The rest of <metal_type_traits>, and <metal_array>, <metal_utility>, <metal_assert>
// and <metal_logging>.
namespace metal {
template <class...> struct conjunction : true_type {};
template <class A> struct conjunction<A> : A {};
template <class A, class... R> struct conjunction<A, R...> : conditional_t<bool(A::value), conjunction<R...>, A> {};
template <class...> struct disjunction : false_type {};
template <class A> struct disjunction<A> : A {};
template <class A, class... R> struct disjunction<A, R...> : conditional_t<bool(A::value), A, disjunction<R...>> {};
template <class A> struct negation : bool_constant<!bool(A::value)> {};
// Apple's names for them, which headers of others use.
template <class... A> using _disjunction = disjunction<A...>;
template <class... A> using _conjunction = conjunction<A...>;
template <class A> using _negation = negation<A>;
// Address spaces are gone by the time this is read.
template <class T> struct remove_addrspace { typedef T type; };
template <class T> using remove_addrspace_t = T;
template <class... A> constexpr bool conjunction_v = conjunction<A...>::value;
template <class... A> constexpr bool disjunction_v = disjunction<A...>::value;
template <class A> constexpr bool negation_v = !bool(A::value);

#define MSL_TRAIT(name, expression) \
  template <class T> struct name : bool_constant<expression> {}; \
  template <class T> constexpr bool name##_v = expression;
MSL_TRAIT(is_void, (is_same_v<remove_cv_t<T>, void>))
MSL_TRAIT(is_null_pointer, (is_same_v<remove_cv_t<T>, decltype(nullptr)>))
MSL_TRAIT(is_array, __is_array(T))
MSL_TRAIT(is_class, __is_class(T))
MSL_TRAIT(is_union, __is_union(T))
MSL_TRAIT(is_function, __is_function(T))
MSL_TRAIT(is_const, __is_const(T))
MSL_TRAIT(is_volatile, __is_volatile(T))
MSL_TRAIT(is_reference, __is_reference(T))
MSL_TRAIT(is_lvalue_reference, __is_lvalue_reference(T))
MSL_TRAIT(is_rvalue_reference, __is_rvalue_reference(T))
MSL_TRAIT(is_object, __is_object(T))
MSL_TRAIT(is_fundamental, (is_arithmetic_v<T> || is_void_v<T> || is_null_pointer_v<T>))
MSL_TRAIT(is_compound, !is_fundamental_v<T>)
MSL_TRAIT(is_member_pointer, __is_member_pointer(T))
MSL_TRAIT(is_final, __is_final(T))
MSL_TRAIT(is_abstract, __is_abstract(T))
MSL_TRAIT(is_polymorphic, __is_polymorphic(T))
MSL_TRAIT(is_aggregate, __is_aggregate(T))
MSL_TRAIT(is_trivial, __is_trivial(T))
MSL_TRAIT(is_standard_layout, __is_standard_layout(T))
MSL_TRAIT(is_pod, __is_pod(T))
MSL_TRAIT(is_literal_type, __is_literal_type(T))
MSL_TRAIT(is_default_constructible, __is_constructible(T))
MSL_TRAIT(is_copy_constructible, (__is_constructible(T, const T&)))
MSL_TRAIT(is_move_constructible, (__is_constructible(T, T&&)))
MSL_TRAIT(is_copy_assignable, (__is_assignable(T&, const T&)))
MSL_TRAIT(is_move_assignable, (__is_assignable(T&, T&&)))
MSL_TRAIT(is_trivially_default_constructible, __is_trivially_constructible(T))
MSL_TRAIT(is_trivially_destructible, __is_trivially_destructible(T))
template <class T> struct is_trivially_copyable : bool_constant<__is_trivially_copyable(T)> {};
template <class A, class B> struct is_base_of : bool_constant<__is_base_of(A, B)> {};
template <class T, class... A> struct is_constructible : bool_constant<__is_constructible(T, A...)> {};
template <class T, class... A> constexpr bool is_constructible_v = __is_constructible(T, A...);
template <class T, class U> struct is_assignable : bool_constant<__is_assignable(T, U)> {};
template <class T, class U> constexpr bool is_assignable_v = __is_assignable(T, U);
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> struct rank : integral_constant<size_t, 0> {};
template <class T> struct rank<T[]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, size_t N> struct rank<T[N]> : integral_constant<size_t, rank<T>::value + 1> {};
template <class T, unsigned I = 0> struct extent : integral_constant<size_t, 0> {};
template <class T, size_t N> struct extent<T[N], 0> : integral_constant<size_t, N> {};
template <class T, size_t N, unsigned I> struct extent<T[N], I> : extent<T, I - 1> {};
template <class T> struct remove_extent { typedef T type; };
template <class T> struct remove_extent<T[]> { typedef T type; };
template <class T, size_t N> struct remove_extent<T[N]> { typedef T type; };
template <class T> struct remove_all_extents { typedef T type; };
template <class T, size_t N> struct remove_all_extents<T[N]> : remove_all_extents<T> {};
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> using remove_all_extents_t = typename remove_all_extents<T>::type;
template <class T> struct add_volatile { typedef volatile T type; };
template <class T> struct add_cv { typedef const volatile T type; };
template <class T> struct add_pointer { typedef __add_pointer(T) type; };
template <class T> struct add_lvalue_reference { typedef __add_lvalue_reference(T) type; };
template <class T> struct add_rvalue_reference { typedef __add_rvalue_reference(T) type; };
template <class T> using add_volatile_t = const volatile T;
template <class T> using add_cv_t = const volatile T;
template <class T> using add_pointer_t = __add_pointer(T);
template <class T> using add_lvalue_reference_t = __add_lvalue_reference(T);
template <class T> using add_rvalue_reference_t = __add_rvalue_reference(T);
template <class T> struct decay { typedef __decay(T) type; };
template <class T> using decay_t = __decay(T);
template <class T> struct underlying_type { typedef __underlying_type(T) type; };
template <class T> using underlying_type_t = __underlying_type(T);
template <class... T> struct common_type {};
template <class T> struct common_type<T> { typedef decay_t<T> type; };
template <class A, class B> struct common_type<A, B> { typedef decay_t<decltype(true ? declval<A>() : declval<B>())> type; };
template <class A, class B, class C, class... R> struct common_type<A, B, C, R...> : common_type<typename common_type<A, B>::type, C, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;
template <class T> struct make_scalar { typedef msl_v::el<T> type; };
template <class T> using make_scalar_t = msl_v::el<T>;
template <class T, int N> struct make_vector { typedef vec<T, N> type; };
template <class T, int N> using make_vector_t = vec<T, N>;

template <class T, T... I> struct integer_sequence {
  typedef T value_type;
  static constexpr size_t size() { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <class T, size_t N> struct array {
  typedef T value_type;
  typedef size_t size_type;
  T msl_elements[N == 0 ? 1 : N];
  MSL_FN constexpr T& operator[](size_t i) { return msl_elements[i]; }
  MSL_FN constexpr const T& operator[](size_t i) const { return msl_elements[i]; }
  MSL_FN constexpr T& at(size_t i) { return msl_elements[i]; }
  MSL_FN constexpr const T& at(size_t i) const { return msl_elements[i]; }
  MSL_FN constexpr T& front() { return msl_elements[0]; }
  MSL_FN constexpr const T& front() const { return msl_elements[0]; }
  MSL_FN constexpr T& back() { return msl_elements[N - 1]; }
  MSL_FN constexpr const T& back() const { return msl_elements[N - 1]; }
  MSL_FN constexpr T* data() { return msl_elements; }
  MSL_FN constexpr const T* data() const { return msl_elements; }
  MSL_FN constexpr T* begin() { return msl_elements; }
  MSL_FN constexpr const T* begin() const { return msl_elements; }
  MSL_FN constexpr T* end() { return msl_elements + N; }
  MSL_FN constexpr const T* end() const { return msl_elements + N; }
  static MSL_FN constexpr size_t size() { return N; }
  static MSL_FN constexpr size_t max_size() { return N; }
  static MSL_FN constexpr bool empty() { return N == 0; }
  MSL_FN constexpr void fill(const T& v) { for (size_t i = 0; i < N; i++) msl_elements[i] = v; }
};
template <class T> struct array_ref {
  T* msl_first;
  size_t msl_count;
  MSL_FN constexpr T& operator[](size_t i) const { return msl_first[i]; }
  MSL_FN constexpr T* data() const { return msl_first; }
  MSL_FN constexpr T* begin() const { return msl_first; }
  MSL_FN constexpr T* end() const { return msl_first + msl_count; }
  MSL_FN constexpr size_t size() const { return msl_count; }
  MSL_FN constexpr bool empty() const { return msl_count == 0; }
};

// Logging (Metal 3.2) writes nowhere: the driver has no log. The arguments are
// evaluated.
struct os_log {
  MSL_FN constexpr os_log() {}
  MSL_FN constexpr os_log(const char*, const char*) {}
  template <class... A> MSL_FN void log(const char*, A...) const {}
  template <class... A> MSL_FN void log_info(const char*, A...) const {}
  template <class... A> MSL_FN void log_debug(const char*, A...) const {}
  template <class... A> MSL_FN void log_error(const char*, A...) const {}
  template <class... A> MSL_FN void log_fault(const char*, A...) const {}
};
constexpr os_log os_log_default;
} // namespace metal

// What the compiler makes of {…} is named by C++: the class is std's.
namespace std {
template <class T> class initializer_list {
  const T* first;
  metal::size_t count;

public:
  typedef T value_type;
  typedef const T* const_iterator;
  MSL_FN constexpr initializer_list() : first(nullptr), count(0) {}
  MSL_FN constexpr metal::size_t size() const { return count; }
  MSL_FN constexpr const T* begin() const { return first; }
  MSL_FN constexpr const T* end() const { return first + count; }
};
}
namespace metal { using std::initializer_list; }
