//! Fields that a Plan's JSON leaves out.

/// Whether a field has its default: 0 or false. Such a field is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
