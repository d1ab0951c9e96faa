import HTTPTypes
package import Model

/// The comparison of the vendor's answers with the gateway's (docs/routing.md#parity).
extension HubsAdapter {
    /// Tokens may be masked for the caller's key; the others are times, versions and locations.
    private static let varying: Set<String> = [
        "id", "title", "published", "updated", "link", "ETag", "RegistrationId", "ExpirationTime", "DeviceToken",
        "lastUpdate", "expirationTime", "lastActiveOn", "pushChannel", "installationId",
    ]
    private static let comparison = AnswerComparison(varying: varying)
    /// The fields of the head that clients read.
    private static let fields: [HTTPField.Name] = [.location, .contentLocation, .eTag]

    package func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String] {
        var found = Self.fields.filter { (ours.headers[$0] == nil) != (theirs.headers[$0] == nil) }.map(\.rawName)
        guard let own = try? XMLReader.read(ours.body), let other = try? XMLReader.read(theirs.body) else {
            return found + Self.comparison.differences(ours: ours, theirs: theirs)
        }
        if ours.status != theirs.status { found.append(AnswerComparison.status) }
        // The texts of errors are for people.
        if own.name != "Error" || other.name != "Error" { Self.compare(own, other, &found) }
        return found
    }

    /// Compares the elements with one name by the first of them: a list has as many as each side knows. `XMLReader` limits depth and number.
    private static func compare(_ own: XMLElement, _ other: XMLElement, _ found: inout [String]) {
        func add(_ name: String) {
            if found.count < AnswerComparison.nameLimit, !found.contains(name) { found.append(name) }
        }
        guard own.name == other.name else { return add(own.name) }
        if own.children.isEmpty, other.children.isEmpty, own.text != other.text { add(own.name) }
        for child in own.children {
            guard let theirs = other.child(child.name) else {
                add(child.name)
                continue
            }
            if !varying.contains(child.name), own.child(child.name) == child { compare(child, theirs, &found) }
        }
        for child in other.children where own.child(child.name) == nil { add(child.name) }
    }

    /// The answer to a registration shows it as it is stored. The answer to a deletion depends on whether it was stored before.
    package func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]? {
        guard let path = try? HubsRequest.path(of: request) else { return nil }
        switch path.call {
        case .registrations where request.method == .post, .registration where request.method == .put:
            guard let first = replies.first, case .registration(.registered) = first else { return replies }
            let commands = observedCommands(request, response: response, settings: settings)
            guard case .registration(.register(let stored))? = commands.first else { return nil }
            let standing = IdentityStanding(
                state: .active,
                token: stored.token,
                user: stored.user,
                attributes: stored.attributes
            )
            return [first, .registration(.standing(standing))]
        case .registration: return nil
        case .registrations, .registrationIDs, .tagged, .installation, .messages, .batch, .message, .schedules,
            .schedule, .later:
            return replies
        }
    }
}
