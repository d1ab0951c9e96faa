package import Model

/// The comparison of the vendor's answers with the gateway's (docs/routing.md#parity).
extension RationalOwlAdapter {
    /// IDs are drawn by each side, texts are for people, and the states of a message are those of its own side.
    private static let varying: Set<String> = [
        "cmt", "c", "usRid", "dRId", "srId", "serverRegId", "channelServer", "mId", "imgD", "ast", "as", "ase", "mst",
        "mt", "ms",
    ]
    private static let comparison = AnswerComparison(varying: varying)
    /// For registrations: whether the object existed depends on calls before the observation.
    private static let registrations = AnswerComparison(varying: varying.union(["rc"]))

    package func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String] {
        guard let call = RationalOwlCall(rawValue: request.route), Self.succeeds(call, ours),
            Self.succeeds(call, theirs)
        else {
            return Self.comparison.differences(ours: ours, theirs: theirs)
        }
        return Self.registrations.differences(ours: ours, theirs: theirs)
    }

    /// Whether the answer says that the object of a registration exists now.
    private static func succeeds(_ call: RationalOwlCall, _ response: VendorResponse) -> Bool {
        RationalOwlObservation.isRegistration(call) && RationalOwlObservation.answer(call, response) != nil
    }

    /// The key of an enrolment is the vendor's.
    package func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]? {
        guard RationalOwlCall(rawValue: request.route) == .clientRegister,
            case .sender(.registered)? = replies.first
        else { return replies }
        guard let key = (try? JSONParser.parse(response.body))?["srId"]?.string else { return nil }
        return [.sender(.enrolled(key: key, isNew: true))]
    }
}
