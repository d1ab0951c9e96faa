package import Model

/// A line of the vendor's export job: the description of one registration. Installations appear as registrations with the tag `$InstallationId:{…}`, one for the device
/// and one for each template.
struct ExportedRegistration {
    /// The kinds of descriptions of devices, each with the network and the element that contains its channel.
    private static let kinds: [String: (network: Installation.Network, channel: String)] = [
        "AppleRegistrationDescription": (.apns, "DeviceToken"),
        "GcmRegistrationDescription": (.gcm, "GcmRegistrationId"),
        "FcmV1RegistrationDescription": (.fcmV1, "FcmV1RegistrationId"),
    ]

    private let description: XMLElement
    private let installation: String?
    private let user: String?
    /// All tags, including those of the system.
    private let written: [String]

    /// - Throws: `ExportFault`.
    init(_ line: [UInt8]) throws(ExportFault) {
        let root: XMLElement
        do throws(XMLReader.Fault) {
            root = try XMLReader.read(line)
        } catch {
            switch error {
            case .syntax: throw ExportFault("is not XML in UTF-8")
            case .forbidden: throw ExportFault("contains a document type or an entity")
            case .tooLarge: throw ExportFault("is longer than \(HubsLimits.bodyBytes) bytes or has too many elements")
            }
        }
        description = root.name == "entry" ? root.child("content")?.children.first ?? root : root
        written = Registration.parts(description.child("Tags")?.text ?? "")
        let system = written.compactMap { $0.hasPrefix("$") ? Tag($0)?.text : nil }
        installation = Self.value(of: "$InstallationId:", system)
        user = Self.value(of: "$UserId:", system)
    }

    /// The value of a system tag.
    private static func value(of name: String, _ tags: [String]) -> String? {
        tags.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
    }

    /// The registration as a call of its app or back end would have made it.
    ///
    /// - Throws: `ExportFault`.
    func device(_ terms: ExportTerms) throws(ExportFault) -> DeviceRegistration {
        do throws(AdapterError) {
            guard let installation else { return try registered(terms) }
            return try installed(installation, terms)
        } catch {
            let field = error.field ?? "the description"
            throw ExportFault(error.code == .missing ? "has no \(field)" : field)
        }
    }

    private func registered(_ terms: ExportTerms) throws(AdapterError) -> DeviceRegistration {
        let id = Registration.trimmed(description.child("RegistrationId")?.text ?? "")
        guard !id.isEmpty else { throw AdapterError(.missing, field: "RegistrationId") }
        // Without a time of the export, the same line gives the same time nevertheless.
        let time = terms.asOf ?? Timestamp(milliseconds: 0)
        return try Registration(id: id, description: description, at: time).registration(terms.environment)
    }

    private func installed(_ id: String, _ terms: ExportTerms) throws(AdapterError) -> DeviceRegistration {
        let kind = Registration.kind(description)
        guard let (network, element) = Self.kinds[kind] else {
            // The templates of an installation are in other lines than the installation, anywhere in the export.
            throw AdapterError(
                .invalid,
                field:
                    "'\(kind.prefix(64))' of the installation '\(id)' is not imported: its templates must be written again"
            )
        }
        var body: JSONObject = ["platform": .string(network.rawValue)]
        body["pushChannel"] = (description.child(element)?.text).map { .string(Registration.trimmed($0)) }
        body["userId"] = user.map { .string($0) }
        let tags = written.filter { !$0.isEmpty && !$0.hasPrefix("$") }
        if !tags.isEmpty { body["tags"] = .array(tags.map { .string($0) }) }
        if let text = description.child("PushVariables")?.text, !text.isEmpty {
            body["pushVariables"] = .object(try Registration.variables(text))
        }
        if let end = description.child("ExpirationTime")?.text, !end.isEmpty, !end.hasPrefix("9999-") {
            body["expirationTime"] = .string(end)
        }
        var registration = try Installation(id: id, body).registration(terms.environment)
        registration.user = user.map { UserID($0) }
        return registration
    }
}

extension HubsAdapter: ExportReading {
    package func registrations(inExport line: [UInt8], _ terms: ExportTerms) throws(ExportFault) -> [Command] {
        [.registration(.register(try ExportedRegistration(line).device(terms)))]
    }
}
