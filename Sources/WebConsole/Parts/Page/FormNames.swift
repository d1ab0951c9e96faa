/// The fields that every form has in addition to its own.
package enum FormNames {
    /// `PageRequest.formToken`.
    package static let token = "_token"
    /// `PageRequest.onceToken`.
    package static let once = "_once"
    /// The path of the form, so that a page with several shows what was typed in the right one.
    package static let form = "_form"
    /// The zone of the page: the form's local times are in it.
    package static let zone = "_zone"
}
