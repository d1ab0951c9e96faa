package import Model

/// The comparison of the vendor's answers with the gateway's (docs/routing.md#parity).
extension IPNSAdapter {
    /// Numbers are drawn by each side, and texts are for people. The name of the pair of result and text is not known (docs/contracts/ipns.md#2.4): the gateway writes
    /// it under both names, and the vendor may leave one out.
    private static let comparison = AnswerComparison(varying: [
        "RT_MSG", "error", "DEVICE_ID", "MESSAGE_ID", "REQ_ID", "SEND_DATE",
    ])

    package func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String] {
        guard let own = Self.paired(ours), let other = Self.paired(theirs) else {
            return Self.comparison.differences(ours: ours, theirs: theirs)
        }
        return Self.comparison.differences(ours: own, theirs: other)
    }

    /// The answer with the pair under one name; nil: it is not an object.
    private static func paired(_ response: VendorResponse) -> VendorResponse? {
        guard var body = (try? JSONParser.parse(response.body))?.object else { return nil }
        body["RT"] = body["RT"] ?? body["rtCode"]
        body["rtCode"] = nil
        body["RT_MSG"] = body["RT_MSG"] ?? body["error"] ?? ""
        body["error"] = nil
        var paired = response
        paired.body = JSONWriter.bytes(.object(body))
        return paired
    }

    /// A registration is answered with a setting, which was adopted from the answer or is that of the call.
    package func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]? {
        guard let call = try? Self.mapped(request, IPNSSettings(settings)), call.operation == .appRegist,
            case .registration(.registered)? = replies.first
        else { return replies }
        let stated = (try? call.fields.flag(.pushYN)).flatMap(\.self)
        let answered = (try? JSONParser.parse(response.body))?["PUSH_YN"]?.string
        let accepts = stated ?? (answered != "N")
        return replies + [.preference(.preferences(DevicePreferences(acceptsPush: accepts)))]
    }
}
