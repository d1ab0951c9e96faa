import Model
import PageParts

/// Changes the preferences of all active identities of a device. Fields that were left as they are change nothing, also if another person changed them
/// meanwhile. If another person changed a field that this one changed too, nothing is written, and both values are shown.
struct PreferencesForm: ConsoleForm {
    let name = "preferences"
    let permission = Permission.operate

    func calls(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> [APICall] {
        Reading.open([DevicePage.device(request.path["device"] ?? "")], answers)
    }

    func submit(_ request: PageRequest, _ fields: FormFields, _ answers: Answers) -> FormStep {
        if let read = answers["device"], !read.isSuccess { return .invalid(FieldErrors(read)) }
        let words = Words(request)
        let device = PreferenceFields(answers.body("device"))
        var body = JSONObject()
        var errors: [String: String] = [:]
        func conflict(_ field: OpenedField) { errors[field.name] = words(DeviceText.changedMeanwhile(field.stored)) }
        switch fields["acceptsPush"] {
        case "true": body["acceptsPush"] = true
        case "false": body["acceptsPush"] = false
        default: break
        }
        let zone = device.zone.typed(fields)
        if !zone.isEmpty, device.zone.isChanged(fields) {
            if device.zone.isContested(fields) { conflict(device.zone) }
            body["timeZone"] = .string(zone)
        }
        let ends = [device.from, device.to]
        if ends.contains(where: { $0.isChanged(fields) }) {
            let (from, to) = (device.from.typed(fields), device.to.typed(fields))
            // One value of the device: writing one end writes the other.
            let stale = ends.filter { $0.isStale(fields) && $0.typed(fields) != $0.stored }
            for end in stale { conflict(end) }
            if stale.isEmpty, DailyWindow(from: from, to: to) == nil {
                errors[from.isEmpty ? "from" : "to"] = words(DeviceText.badWindow)
            }
            body["receivingWindow"] = ["from": .string(from), "to": .string(to)]
        }
        if device.tags.isChanged(fields) {
            if device.tags.isContested(fields) { conflict(device.tags) }
            let names = device.tags.typed(fields).split(separator: ",").map { $0.trimming(while: \.isWhitespace) }
            body["tags"] = .array(names.filter { !$0.isEmpty }.map { .string(String($0)) })
        }
        guard errors.isEmpty else { return .invalid(FieldErrors(errors)) }
        guard !body.isEmpty else { return .invalid(FieldErrors(["": words(DeviceText.nothing)])) }
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
