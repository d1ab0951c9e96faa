import Model

/// The answers to back ends (docs/contracts/rationalowl.md#8, docs/contracts/rationalowl.md#11.1).
extension RationalOwlResponse {
    func server(_ reply: Reply) -> VendorResponse {
        guard endpoint == .serverRegister, case .sender(.registered(let sender)) = reply else { return mismatch() }
        return .json(
            .pairs(["serverRegId": .string(sender.rawValue), "channelServer": .string(channelServer)])
        )
    }

    func messageClient(_ reply: Reply) -> VendorResponse {
        switch (endpoint, reply) {
        case (.clientRegister, .sender(.enrolled(let key, let isNew))): enrolled(key: key, isNew: isNew)
        case (.sendByPhoneNumber, .submission(.accepted(let message, _))),
            (.sendByDeviceID, .submission(.accepted(let message, _))):
            // The documented success has only this key.
            .json(.pairs(["mId": .string(message.description)]))
        case (.setCallbackURL, .sender(.callbackSet)): .json(.pairs(["rc": 1]))
        default: mismatch()  // a reply to another call's command
        }
    }

    /// Assumed: the vendor publishes no error of a send. The answer follows both conventions: UMS's `rc` and `cmt`, and the core's `error`
    /// (docs/contracts/rationalowl.md#8.3).
    func messageClientError(_ error: RationalOwlError) -> JSON {
        var body = JSONObject([("rc", .int(error.code.rawValue)), ("cmt", .string(error.comment))])
        if endpoint == .sendByPhoneNumber || endpoint == .sendByDeviceID { body["error"] = .string(error.detail) }
        return .object(body)
    }

    private func enrolled(key: String, isNew: Bool) -> VendorResponse {
        let verdict: Verdict =
            isNew ? .success : Verdict(code: .clientAlreadyRegistered, comment: "이미 등록된 발신 클라이언트입니다.")
        return .json(
            .pairs(["rc": .int(verdict.code.rawValue), "srId": .string(key), "cmt": .string(verdict.comment)])
        )
    }

    /// The host for the sender's further calls: the private address if the sender requested it, and the host of this call if none is provisioned.
    private var channelServer: String {
        let wantsPrivate = (try? fields.flag("privateNetwork")).flatMap(\.self) ?? false
        return (wantsPrivate ? settings.privateChannelServer : nil) ?? settings.channelServer ?? host ?? ""
    }
}
