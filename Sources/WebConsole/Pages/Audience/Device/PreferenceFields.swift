import Model
import PageParts

/// The preferences of a device, as the fields of its form show them.
struct PreferenceFields {
    let zone: OpenedField
    let from: OpenedField
    let to: OpenedField
    let tags: OpenedField

    init(_ device: JSON) {
        let window = device["receivingWindow"] ?? .null
        let active = (device["identities"]?.array ?? []).first { $0["state"]?.string == "active" }
        let names = (active?["tags"]?.array ?? []).compactMap(\.string)
        zone = OpenedField(name: "timeZone", stored: device["timeZone"]?.string ?? "")
        from = OpenedField(name: "from", stored: window["from"]?.string ?? "")
        to = OpenedField(name: "to", stored: window["to"]?.string ?? "")
        tags = OpenedField(name: "tags", stored: names.joined(separator: ", "))
    }

    var fields: [OpenedField] { [zone, from, to, tags] }
}

/// A field of a form that shows a stored value. The form also carries the value with which it was opened, by which a change of this person differs from one
/// that another person made meanwhile.
struct OpenedField {
    let name: String
    /// The value that is stored now.
    let stored: String

    private var openedName: String { "shown\(name.prefix(1).uppercased())\(name.dropFirst())" }

    /// The value with which the form was opened.
    func opened(_ fields: FormFields) -> String { fields[openedName] ?? stored }
    /// A form without the field leaves the value.
    func typed(_ fields: FormFields) -> String { fields[name] ?? opened(fields) }
    func isChanged(_ fields: FormFields) -> Bool { typed(fields) != opened(fields) }
    /// Whether another person changed the value since the form was opened.
    func isStale(_ fields: FormFields) -> Bool { opened(fields) != stored }
    /// Whether two people changed it to different values.
    func isContested(_ fields: FormFields) -> Bool {
        isChanged(fields) && isStale(fields) && typed(fields) != stored
    }

    /// The hidden field with the value of opening. After a conflict, it is the value that the person was shown, so that saving again replaces it.
    /// In every other case the form stays as it was opened: what its person left is not a change.
    func hidden(_ request: PageRequest) -> FormView.Field {
        let value = request.errors.errors[name] == nil ? opened(request.typed) : stored
        return .hidden(openedName, value)
    }
}
