/// The facts that a vendor's SDK reported about the app and the system on its device. A field that was not reported has no value.
package struct ClientFacts: Sendable, Hashable {
    /// The fields, in the order in which they are shown.
    package enum Field: String, Sendable, Hashable, CaseIterable {
        /// The version of the app.
        case appVersion
        /// The name of the operating system.
        case os
        /// The version of the operating system.
        case osVersion
        /// The version of the vendor's SDK.
        case sdkVersion
        /// The model of the device, such as `iPhone15,2`.
        case model
        /// The language and region that are set on the device, such as `ko_KR`.
        case locale
    }

    /// 64 bytes per field, because each is stored with every identity. A longer text is cut off.
    package static let fieldBytes = 64

    /// An empty text: the field's value is removed.
    private var values: [Field: String] = [:]

    package init() {}

    /// Creates facts from the fields of a vendor's call. A text without visible characters is ignored.
    package init(_ values: [Field: String?]) {
        for (field, text) in values { set(field, text) }
    }

    /// The value of a field; nil: not reported.
    package subscript(field: Field) -> String? { values[field].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether nothing was reported, and nothing is removed.
    package var isEmpty: Bool { values.isEmpty }

    /// Sets a field to a text without control characters, shortened to `fieldBytes`. Nil, or a text without visible characters, leaves the field unchanged.
    package mutating func set(_ field: Field, _ text: String?) {
        guard let text, case let clean = Self.clean(text), !clean.isEmpty else { return }
        values[field] = clean
    }

    /// Removes the value of a field, also a stored one.
    package mutating func remove(_ field: Field) { values[field] = "" }

    /// `text` without control and format characters, and without spaces at its ends.
    private static func clean(_ text: String) -> String {
        var clean = ""
        // No field needs more characters than this, and a longer text must not cost more.
        for scalar in text.unicodeScalars.prefix(4 * fieldBytes) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: continue
            case .spaceSeparator where clean.isEmpty: continue
            default: break
            }
            guard clean.utf8.count + UTF8.width(scalar) <= fieldBytes else { break }
            clean.unicodeScalars.append(scalar)
        }
        while clean.last == " " { clean.removeLast() }
        return clean
    }
}

extension ClientFacts {
    /// The facts of a stored or received object. Members that are not texts are ignored.
    package init(_ object: JSONObject) {
        for field in Field.allCases { set(field, object[field.rawValue]?.string) }
    }

    /// The members that are set, in the order of the fields; null for a field that is removed. Nil if there are none.
    package var report: JSONObject? {
        guard !isEmpty else { return nil }
        var object = JSONObject()
        for field in Field.allCases {
            if let text = values[field] { object[field.rawValue] = text.isEmpty ? .null : .string(text) }
        }
        return object
    }
}

extension UTF8 {
    fileprivate static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case ..<0x80: 1
        case ..<0x800: 2
        case ..<0x1_0000: 3
        default: 4
        }
    }
}
