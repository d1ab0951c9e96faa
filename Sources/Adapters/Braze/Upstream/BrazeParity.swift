package import Model

/// The comparison of the vendor's answers with the gateway's (docs/routing.md#parity).
extension BrazeAdapter {
    /// IDs are drawn by each side, and the elements of `errors` have texts for people.
    private static let comparison = AnswerComparison(varying: ["dispatch_id", "schedule_id", "send_id", "errors"])

    package func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String] {
        guard SDKCall(path: request) != nil else { return Self.comparison.differences(ours: ours, theirs: theirs) }
        // The SDK is answered with the features of its workspace, which are the vendor's. Whether it was accepted is the same on both sides.
        var found: [String] = []
        if ours.status / 100 != theirs.status / 100 { found.append(AnswerComparison.status) }
        let errors = [ours, theirs].map { (try? JSONParser.parse($0.body))?["error"] != nil }
        if errors[0] != errors[1] { found.append("error") }
        return found
    }

    /// The elements of `/users/track` that the vendor refused are not carried out here, so that such answers are not compared.
    package func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]? {
        guard request.canonicalPath == BrazeCall.track.rawValue else { return replies }
        let errors = (try? JSONParser.parse(response.body))?["errors"]?.array ?? []
        return errors.isEmpty ? replies : nil
    }
}
