package import Model

/// The whole body of a push, typed. `PayloadEncoder` checks it against the rules of its push type and writes its bytes.
///
/// It never changes and is passed by reference: a value of this size costs more to copy than to write. It has no limits of its own, because the check applies
/// them.
package final class APNsPayload: Sendable {
    /// The part that Apple reads.
    package enum Body: Sendable, Hashable {
        /// The `aps` dictionary of every type that is not listed below.
        case notification(Aps)
        /// The `aps` dictionary of a Live Activity.
        indirect case liveActivity(LiveActivity)
        /// `{"aps":{"content-changed":true}}`, for widgets and controls.
        case contentChanged
        /// `{"mdm":"…"}` without `aps`; the value is the device's push magic.
        case mdm(pushMagic: String)
    }

    package let body: Body
    /// The caller's own keys, written after `aps` in their order. Apple ignores them if they are inside `aps` (Apple, "Generating a remote notification").
    package let custom: JSONObject

    package init(_ body: Body, custom: JSONObject = JSONObject()) {
        self.body = body
        self.custom = custom
    }

    /// Creates a payload with an `aps` dictionary.
    package convenience init(_ aps: Aps, custom: JSONObject = JSONObject()) {
        self.init(.notification(aps), custom: custom)
    }
}
