import PageParts

/// The texts of the diagnosis of a device.
enum DiagnosisText {
    static let title = Text(ko: "이 단말에 왜 알림이 가지 않았나요?", en: "Why was this device not notified?")
    static let checks = Text(ko: "발신 조건 점검", en: "Delivery checks")
    static let payload = Text(ko: "형식별 페이로드", en: "Payload per dialect")
    static let recent = Text(ko: "이 단말의 최근 알림", en: "Recent notifications to this device")
    static let test = Text(ko: "테스트 알림 발신", en: "Send test notification")
    static let lane = Text(ko: "메시지 종류", en: "Kind of message")
    static let device = Text(ko: "단말 보기", en: "View device")
    static let noDelivery = Text(ko: "이 단말로 발신한 기록이 없습니다.", en: "No delivery to this device is stored.")
    static let noDeliveryStep = Text(
        ko: "테스트 알림을 발신하면 발신 과정이 여기에 표시됩니다.",
        en: "Send a test notification to see its delivery here."
    )
    static let result = Text(ko: "결과", en: "Result")
    static let reason = Text(ko: "사유", en: "Reason")
    static let headline = Text(ko: "제목", en: "Title")
    static let body = Text(ko: "본문", en: "Text")
    static let testTitle = Text(ko: "테스트", en: "Test")
    static let testBody = Text(ko: "테스트 알림입니다.", en: "This is a test notification.")
    static let testHint = Text(
        ko: "이 단말 한 대에 바로 발신합니다. 발신 후 결과 페이지가 열립니다.",
        en: "It is sent to this device only, at once. Then its page opens."
    )
    static let testSent = Text(ko: "테스트 알림을 발신했습니다.", en: "The test notification is sent.")

    static let reachable = Text(
        ko: "지금 이 단말에 알림을 보내는 데 문제가 없습니다.",
        en: "Nothing prevents a notification to this device now."
    )
    static let unknown = Text(
        ko: "이 단말의 상태를 지금 읽을 수 없습니다. 잠시 후 다시 여세요.",
        en: "The state of this device cannot be read now. Open the page again in a moment."
    )
    static func silent(_ since: String) -> Text {
        Text(
            ko: "APNs가 알림을 접수하지만, 앱은 \(since) 이후 수신을 알리지 않았습니다. 단말이 온라인인지, 앱이 SDK를 호출하는지 확인하세요.",
            en:
                "APNs accepts the notifications, but the app has reported no receipt since \(since). Check that the device is online and that the app calls the SDK."
        )
    }

    static func failed(_ count: String) -> Text { Text(ko: "실패 \(count)", en: "failed \(count)") }
    static func warnings(_ count: String) -> Text { Text(ko: "주의 \(count)", en: "warnings \(count)") }
    static func passed(_ count: String) -> Text { Text(ko: "정상 \(count)", en: "passed \(count)") }
    static func notKnown(_ count: String) -> Text { Text(ko: "알 수 없음 \(count)", en: "unknown \(count)") }

    static let toApp = Text(ko: "앱", en: "App")
    static let toDevice = Text(ko: "단말", en: "Device")
    static let toUser = Text(ko: "사용자 설정", en: "Settings of the user")
    static let toCredentials = Text(ko: "인증서·키", en: "Credential")
    static let toQueue = Text(ko: "노드·대기열", en: "Nodes and queue")
    static let toDelivery = Text(ko: "발신 과정", en: "Delivery")

    // MARK: Conditions

    /// The state of a condition that is met.
    static func met(_ condition: String?) -> Text {
        switch condition {
        case "app": Text(ko: "등록된 앱입니다.", en: "The app is provisioned.")
        case "platform": Text(ko: "게이트웨이가 이 플랫폼으로 발신합니다.", en: "The gateway sends to the platform.")
        case "dialect": Text(ko: "게이트웨이가 이 형식을 지원합니다.", en: "The gateway supports the dialect.")
        case "pushSetting": Text(ko: "사용자가 알림 수신을 켰습니다.", en: "The user accepts notifications.")
        case "assurance": Text(ko: "메시지에 필요한 만큼 확인되었습니다.", en: "The user is confirmed as well as messages require.")
        case "highestLevel":
            Text(ko: "더 확실한 다른 등록이 없습니다.", en: "No identity of a higher level excludes this one.")
        case "optIn": Text(ko: "사용자가 수신에 동의했습니다.", en: "The user opted in.")
        case "consents": Text(ko: "수신을 거부한 주제가 없습니다.", en: "The user has unsubscribed from nothing.")
        case "lane": Text(ko: "일시 중지되지 않았습니다.", en: "The lane is not paused.")
        case "quietHours": Text(ko: "지금은 방해 금지 시간이 아닙니다.", en: "It is not in quiet hours of the app.")
        case "receivingWindow": Text(ko: "지금 수신할 수 있습니다.", en: "No receiving window excludes this time.")
        case "frequencyCap": Text(ko: "제한에 도달하지 않았습니다.", en: "The cap is not reached.")
        case "lastDelivery": Text(ko: "APNs가 접수했습니다.", en: "APNs accepted it.")
        case "registration": Text(ko: "사용 중인 등록입니다.", en: "The registration is active.")
        case "token": Text(ko: "사용할 수 있는 토큰이 있습니다.", en: "The device has a usable token.")
        case .some, nil: Text(ko: "문제가 없습니다.", en: "It is met.")
        }
    }

    static func metSince(_ condition: String?, _ since: String?) -> Text {
        let text = met(condition)
        guard let since else { return text }
        return Text(ko: "\(text.ko) \(since)에 등록되었습니다.", en: "\(text.en) Registered on \(since).")
    }
    static func credentialWorks(_ name: String) -> Text {
        Text(
            ko: "\(name) 인증서·키를 APNs가 거절하지 않았습니다.",
            en: "APNs has not refused credential \(name)."
        )
    }
    static func inWindow(_ window: String) -> Text {
        Text(ko: "지금 수신할 수 있습니다. 수신 허용 시간은 \(window)입니다.", en: "Notifications are received \(window).")
    }
    static func lastReceipt(_ time: String) -> Text {
        Text(ko: "마지막 수신 확인은 \(time)입니다.", en: "The last receipt was on \(time).")
    }

    /// The state of a condition that is not met.
    static func unmet(_ condition: String?) -> Text {
        switch condition {
        case "app": Text(ko: "앱이 설정에서 삭제되었습니다.", en: "The app was removed.")
        case "platform":
            Text(ko: "게이트웨이가 이 플랫폼으로 발신할 수 없습니다.", en: "This gateway cannot send to the platform.")
        case "route":
            Text(
                ko: "앱에 이 단말의 환경에 맞는 토픽이나 인증서·키가 없습니다.",
                en: "The app has no topic or no credential for the environment of the device."
            )
        case "dialect": Text(ko: "지원하지 않는 형식입니다.", en: "The gateway does not support the dialect.")
        case "pushSetting": Text(ko: "사용자가 알림 수신을 껐습니다.", en: "The user has switched notifications off.")
        case "optIn":
            Text(
                ko: "사용자가 수신에 동의하지 않았습니다. 동의가 필요한 메시지만 영향을 받습니다.",
                en: "The user has not opted in. Only messages that require it are affected."
            )
        case "consents":
            Text(
                ko: "사용자가 일부 주제의 수신을 거부했습니다.",
                en: "The user has unsubscribed from some subjects."
            )
        case "lane":
            Text(ko: "이 종류의 메시지 발신이 일시 중지되어 있습니다.", en: "Messages of this kind are paused.")
        case "quietHours": Text(ko: "지금은 앱의 방해 금지 시간입니다.", en: "It is in quiet hours of the app.")
        case "receivingWindow":
            Text(ko: "지금은 단말의 수신 허용 시간이 아닙니다.", en: "It is outside the receiving window of the device.")
        case .some, nil: Text(ko: "충족되지 않았습니다.", en: "It is not met.")
        }
    }

    /// A condition whose state is not known.
    static func unknownState(_ condition: String?) -> Text {
        switch condition {
        case "credential":
            Text(ko: "이 단말에 쓸 인증서·키가 정해지지 않았습니다.", en: "The app has no route for the device.")
        case "lastDelivery": Text(ko: "이 단말로 발신한 기록이 없습니다.", en: "No delivery to the device is stored.")
        case "receipts":
            Text(
                ko: "이 단말의 SDK가 수신 확인을 지원하지 않거나, 최근에 발신한 알림이 없습니다.",
                en: "The SDK on the device does not report receipts, or nothing was sent recently."
            )
        case .some, nil: Text(ko: "알 수 없습니다.", en: "It is not known.")
        }
    }

    /// The console has no form for it.
    static let resumeLane = Text(
        ko: "gateway.lane 테이블에서 해당 구분의 is_paused를 false로 변경하세요.",
        en: "Set is_paused of the lane to false in the table gateway.lane."
    )

    /// The action for a condition that is not met; nil: that of its reason.
    static func action(_ condition: String?) -> Text? {
        switch condition {
        case "app", "route":
            Text(
                ko: "‘앱·연동’에서 앱의 토픽과 인증서·키를 설정하세요.",
                en: "Set topic and credential of the app under Apps and bindings."
            )
        case "credential":
            Text(
                ko: "‘인증서·키’에서 올바른 키를 등록하세요. 대기 중인 메시지는 그 뒤에 발신됩니다.",
                en: "Upload a valid key under Credentials. Waiting messages are sent afterwards."
            )
        case "token", "registration":
            Text(ko: "앱을 다시 열면 새 토큰이 등록됩니다.", en: "A new token is registered the next time the app opens.")
        case "pushSetting":
            Text(ko: "사용자가 수신 설정을 다시 켜야 합니다.", en: "The user has to switch notifications on again.")
        case "optIn", "consents": Text(ko: "조치할 것이 없습니다.", en: "No action is required.")
        case "lane": resumeLane
        case "quietHours", "receivingWindow":
            Text(
                ko: "조치할 것이 없습니다. 앱 설정에 따라 그 시간 뒤에 발신되거나 제외됩니다.",
                en:
                    "No action is required: by the settings of the app, messages wait for these hours or are suppressed."
            )
        case "receipts":
            Text(
                ko: "단말이 온라인인지, 알림이 도착했을 때 앱이 SDK를 호출하는지 확인하세요.",
                en: "Check that the device is online and that the app calls the SDK when a notification arrives."
            )
        case .some, nil: nil
        }
    }

    // MARK: Sentences of conditions

    static let noToken = Text(ko: "이 단말에는 토큰이 없습니다.", en: "This device has no token.")

    static func tokenExpired(_ since: String?) -> Text {
        guard let since else { return Text(ko: "이 단말의 토큰이 만료되었습니다.", en: "This device's token has expired.") }
        return Text(ko: "이 단말의 토큰은 \(since)에 만료되었습니다.", en: "This device's token expired on \(since).")
    }
    static func tokenRejected(_ since: String?, _ reason: String?) -> Text {
        let name = reason.map { " (\($0))" } ?? ""
        return Text(
            ko: since.map { "APNs가 \($0)에 이 단말의 토큰을 거절했습니다\(name)." } ?? "이 단말의 토큰은 사용할 수 없습니다\(name).",
            en: since.map { "APNs rejected this device's token\(name) on \($0)." }
                ?? "This device's token cannot be used\(name)."
        )
    }
    static func credentialMissing(_ name: String) -> Text {
        Text(
            ko: "\(name) 인증서·키가 등록되어 있지 않거나 APNs가 거절합니다.",
            en: "Credential \(name) is missing, or APNs rejects it."
        )
    }
    static func credentialRefused(_ name: String, _ reason: String, _ since: String?) -> Text {
        let ko = since.map { "\($0)부터 " } ?? ""
        let en = since.map { " since \($0)" } ?? ""
        return Text(
            ko: "APNs가 \(ko)인증서·키 \(name)을(를) 거절합니다(\(reason)).",
            en: "APNs rejects credential \(name) (\(reason))\(en)."
        )
    }
    static func waitsUntil(_ condition: String?, _ until: String) -> Text {
        let text = unmet(condition)
        return Text(
            ko: "\(text.ko) 메시지는 \(until)까지 기다립니다.",
            en: "\(text.en) Messages wait until \(until)."
        )
    }
    static func lastFailed(_ state: String, _ since: String?, _ why: String) -> Text {
        let time = since.map { " (\($0))" } ?? ""
        return Text(ko: "\(state)\(time). \(why)", en: "\(state)\(time). \(why)")
    }
    static func noReceipts(_ since: String?) -> Text {
        guard let since else {
            return Text(ko: "수신 확인이 한 번도 없었습니다.", en: "The device has never reported a receipt.")
        }
        return Text(ko: "\(since) 이후 수신 확인이 없습니다.", en: "No receipt since \(since).")
    }
    static let systemSetting = Text(
        ko: "단말의 시스템 설정에서 앱의 알림이 꺼져 있습니다.",
        en: "The system of the device does not show notifications of the app."
    )
    static func ended(_ since: String?, isLast: Bool) -> Text {
        if isLast {
            return Text(ko: "이 단말에는 사용 중인 등록이 없습니다.", en: "The device has no active registration.")
        }
        guard let since else { return Text(ko: "끝난 등록입니다.", en: "The registration has ended.") }
        return Text(ko: "\(since)에 끝난 등록입니다.", en: "The registration ended on \(since).")
    }
}
