import Model

/// Changes the preferences of all active identities of a device. Fields that were left as they are change nothing.
struct PreferencesForm: ConsoleForm {
    let name = "preferences"
    let permission = Permission.operate

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        Reading.open([DevicePage.device(request.path["device"] ?? "")], answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        let device = answers.body("device")
        var body = JSONObject()
        switch fields["acceptsPush"] {
        case "true": body["acceptsPush"] = true
        case "false": body["acceptsPush"] = false
        default: break
        }
        if let zone = fields["timeZone"], !zone.isEmpty, zone != device["timeZone"]?.string {
            body["timeZone"] = .string(zone)
        }
        let (from, to) = (fields["from"] ?? "", fields["to"] ?? "")
        let shown = device["receivingWindow"] ?? .null
        if from != shown["from"]?.string ?? "" || to != shown["to"]?.string ?? "" {
            guard DailyWindow(from: from, to: to) != nil else {
                return .invalid(FieldErrors([from.isEmpty ? "from" : "to": DeviceText.badWindow(request.language)]))
            }
            body["receivingWindow"] = ["from": .string(from), "to": .string(to)]
        }
        if let tags = fields["tags"], tags != fields["shownTags"] ?? "" {
            let names = tags.split(separator: ",").map { $0.trimming(while: \.isWhitespace) }.filter { !$0.isEmpty }
            body["tags"] = .array(names.map { .string(String($0)) })
        }
        guard !body.isEmpty else { return .invalid(FieldErrors(["": DeviceText.nothing(request.language)])) }
        let path = DevicePage.base(request.path["device"] ?? "")
        return .call(APICall("update", .patch, path, body: .object(body), once: request.onceToken))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(DeviceText.changed) : .invalid(FieldErrors(answer))
    }
}

/// Confirms the user of an identity.
struct VouchForm: ConsoleForm {
    let name = "vouch"
    let permission = Permission.operate

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard let identity = fields["identity"], !identity.isEmpty else {
            return .invalid(FieldErrors(["": ReadingWords.required(request.language)]))
        }
        // The user that was shown: if the identity has another one now, nothing is changed.
        var body = JSONObject()
        if let user = fields["user"], !user.isEmpty { body["user"] = .string(user) }
        let path = "identities/\(APICall.segment(identity))/vouch"
        return .call(APICall("vouch", .post, path, body: .object(body), once: request.onceToken))
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        answer.isSuccess ? .back(DeviceText.vouched) : .invalid(FieldErrors(answer))
    }
}

/// Erases a device, after a confirmation and the password.
struct EraseDeviceForm: ConsoleForm {
    let name = "erase"
    let permission = Permission.operate
    let asksPassword = true

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        guard Confirmation.isGiven(fields) else { return .show }
        return .call(
            APICall("erase", .delete, DevicePage.base(request.path["device"] ?? ""), once: request.onceToken)
        )
    }

    func result(_ request: PageRequest, _ fields: FormFields, _ answer: APIAnswer) -> FormResult {
        guard answer.isSuccess else { return .invalid(FieldErrors(answer)) }
        return .go(Link(FindWords.title(request.language), "find"), DeviceText.erased)
    }
}

extension Substring {
    /// Without the characters at both ends that satisfy a condition.
    fileprivate func trimming(while condition: (Character) -> Bool) -> Substring {
        var rest = drop(while: condition)
        while let last = rest.last, condition(last) { rest.removeLast() }
        return rest
    }
}
