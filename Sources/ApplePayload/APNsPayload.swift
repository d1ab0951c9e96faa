package import Model

/// The whole body of a push, typed. `PayloadEncoder` checks it against the rules of its push type and writes its bytes.
///
/// Made by whoever sends and never changed, so that it is handed on by reference: a value of this size costs more to copy than to write.
/// Without limits of its own, because the check bounds it.
package final class APNsPayload: Sendable {
    /// What Apple reads.
    package enum Body: Sendable, Hashable {
        /// The `aps` dictionary of every type that is not named below.
        case notification(Aps)
        /// The `aps` dictionary of a Live Activity.
        indirect case liveActivity(LiveActivity)
        /// `{"aps":{"content-changed":true}}`, for widgets and controls.
        case contentChanged
        /// `{"mdm":"…"}` without `aps`: the device's push magic.
        case mdm(pushMagic: String)
    }

    package let body: Body
    /// The caller's own keys, written after `aps` in their order. Apple ignores such keys inside `aps` (Apple, "Generating a remote
    /// notification").
    package let custom: JSONObject

    package init(_ body: Body, custom: JSONObject = JSONObject()) {
        self.body = body
        self.custom = custom
    }

    /// A push with an `aps` dictionary.
    package convenience init(_ aps: Aps, custom: JSONObject = JSONObject()) {
        self.init(.notification(aps), custom: custom)
    }
}
