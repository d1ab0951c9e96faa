package import Model

/// The comparison of the vendor's answers with the gateway's (docs/routing.md#parity).
extension UPMCAdapter {
    /// Keys and numbers are drawn by each side, texts are for people, and badges and unread counts depend on messages that the gateway has not seen. Whether a device has
    /// changed depends on its earlier registrations.
    private static let comparison = AnswerComparison(varying: [
        "AUTHKEY", "GROUPSEQ", "SENDMSG_SEQNO", "RESERVE_SEQNO", "SEQNO", "RESULT_BODY", "message", "BADGENO", "UNREAD",
        "DEVICEID_CHANGE_YN", "SENDDATE", "REVDATE", "READDATE",
    ])

    package func differences(ours: VendorResponse, theirs: VendorResponse, for request: VendorRequest) -> [String] {
        Self.comparison.differences(ours: ours, theirs: theirs)
    }

    /// A group is stored under the vendor's number before the call itself is carried out.
    package func comparable(
        _ replies: [Reply],
        to request: VendorRequest,
        response: VendorResponse,
        settings: BindingSettings
    ) -> [Reply]? {
        switch UPMCCall(path: request.path) {
        case .joinGroup, .leaveGroup: return Array(replies.dropFirst())
        case .registerGroup:
            guard case .group(.put)? = replies.first else { return replies }
            let body = (try? JSONParser.parse(response.body))?["BODY"]
            let answer = body?.object ?? body?.array?.first?.object
            // The number and the title were adopted from the answer.
            let name = GroupName(answer?["GROUPSEQ"]?.lenientString ?? "")
            let title = answer?["GROUPNAME"]?.lenientString ?? ""
            return [.group(.created(TitledGroup(name: name, title: title)))]
        default: return replies  // the calls whose observed commands are those of the call
        }
    }

    /// `REG_SUCCESS_CNT` of a send. Nil also for a number that cannot be one of devices: the numbers of many answers are added up.
    package func audienceCount(in response: VendorResponse) -> Int? {
        guard let body = (try? JSONParser.parse(response.body))?["BODY"] else { return nil }
        let answer = body.object ?? body.array?.first?.object
        guard let count = answer?["REG_SUCCESS_CNT"]?.lenientInt, (0...UPMCLimits.audience).contains(count) else {
            return nil
        }
        return Int(exactly: count)
    }
}
