/// The extent to which a signed call may act on a device.
struct HubAccess: Hashable {
    /// Whether it may set users and tags: a key with the manage right, possibly for one installation only, or a binding that allows it to others.
    var setsTags: Bool
    /// Whether it may see tokens that it did not send in the call.
    var showsTokens: Bool
    /// The only user that the token permits; nil: any.
    var user: String?
    /// Whether the key has the manage right: then the tenant's back end states the user.
    var manages = false

    static let full = HubAccess(setsTags: true, showsTokens: true)

    /// The refusal of a user or a tag (docs/contracts/notificationhubs.md#3.4).
    static let refusal = AccessFault.manage.error
}
