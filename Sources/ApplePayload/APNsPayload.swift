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

    /// A caller's own key beside `aps`.
    package struct CustomKey: Sendable, Hashable {
        package var name: String
        package var value: JSON

        package init(_ name: String, _ value: JSON) {
            self.name = name
            self.value = value
        }
    }

    package let body: Body
    /// The caller's own keys, in the order in which they are written. Never inside `aps`, where they are ignored (Apple, "Generating a remote
    /// notification").
    package let custom: [CustomKey]

    package init(_ body: Body, custom: [CustomKey] = []) {
        self.body = body
        self.custom = custom
    }

    /// A push that shows, sounds or counts something.
    package convenience init(_ aps: Aps, custom: KeyValuePairs<String, JSON> = [:]) {
        self.init(.notification(aps), custom: custom.map { CustomKey($0.key, $0.value) })
    }

    /// A background push: it wakes the app and shows nothing.
    package static func background(custom: [CustomKey] = []) -> APNsPayload {
        APNsPayload(.notification(Aps(isContentAvailable: true)), custom: custom)
    }
}
