import PageParts

enum WebhooksText {
    static let title = Text(ko: "웹훅", en: "Webhooks")
    static let webhook = Text(ko: "웹훅", en: "Webhook")
    static let address = Text(ko: "주소", en: "Address")
    static let kinds = Text(ko: "이벤트 종류", en: "Kinds of events")
    static let allKinds = Text(ko: "모든 이벤트", en: "All events")
    static let allApps = Text(ko: "모든 앱", en: "All apps")
    static let lag = Text(ko: "밀린 이벤트", en: "Behind")
    static let failures = Text(ko: "연속 실패", en: "Failures in a row")
    static let lastError = Text(ko: "마지막 오류", en: "Last error")
    static let order = Text(ko: "순서", en: "Order")
    static let inOrder = Text(ko: "전체 순서대로", en: "In the order of the log")
    static let perDevice = Text(ko: "단말별 순서대로", en: "In order per device")
    static let keyID = Text(ko: "서명 키 ID", en: "Signing key")
    static let cursor = Text(ko: "전달 완료 위치", en: "Delivered up to")
    static let head = Text(ko: "로그 끝 위치", en: "End of the log")
    static let active = Text(ko: "정상", en: "Active")
    static let failing = Text(ko: "실패 중", en: "Failing")
    static let paused = Text(ko: "일시 중지", en: "Paused")
    static let stopped = Text(ko: "중단됨", en: "Stopped")
    static let pause = Text(ko: "일시 중지", en: "Pause webhook")
    static let resume = Text(ko: "다시 시작", en: "Resume webhook")
    static let delete = Text(ko: "웹훅 삭제", en: "Delete webhook")
    static let deleteQuestion = Text(
        ko: "웹훅을 삭제합니다. 이후의 이벤트는 이 주소로 전달되지 않습니다.",
        en: "The webhook is deleted. No further events are delivered to its address."
    )
    static let pausedNotice = Text(ko: "일시 중지했습니다.", en: "The webhook is paused.")
    static let resumedNotice = Text(ko: "다시 시작했습니다.", en: "The webhook is resumed.")
    static let replayedNotice = Text(
        ko: "지정한 위치 이후의 이벤트를 다시 전달합니다.",
        en: "The events after the position are delivered again."
    )
    static let facts = Text(ko: "웹훅 정보", en: "The webhook")
    static let create = Text(ko: "웹훅 만들기", en: "Create a webhook")
    static let kindsHint = Text(
        ko: "sent, failed처럼 쉼표로 구분합니다. 비우면 모든 이벤트입니다.",
        en: "Such as sent, failed; separated by commas. Empty: all events."
    )
    static let replay = Text(ko: "다시 전달", en: "Deliver again")
    static let from = Text(ko: "이 위치 다음 이벤트부터", en: "All events after the position")
    static let replayNote = Text(
        ko: "받는 쪽은 같은 이벤트를 두 번 받을 수 있습니다. offset으로 중복을 구별하세요.",
        en: "The receiver gets these events twice and distinguishes them by offset."
    )
    static let secret = Text(ko: "서명 비밀 값 교체", en: "Replace the signing secret")
    static let secretNote = Text(
        ko: "겹치는 동안 호출에는 서명이 두 개 들어 있습니다.",
        en: "Calls have two signatures until the overlap ends."
    )
    static func replacedMeanwhile(_ key: String) -> Text {
        Text(
            ko: "이 페이지를 연 뒤 다른 사람이 비밀 값을 교체했습니다. 현재 서명 키는 \(key)입니다. 요청은 처리되지 않았습니다. 다시 교체하면 그 이전의 비밀 값은 즉시 만료됩니다.",
            en:
                "Another person replaced the secret after you opened the page. The signing key is now \(key). Your request was not carried out. Replacing it again ends the secret before that one at once."
        )
    }
    static let newSecret = Text(
        ko: "새 서명 비밀 값입니다. 지금만 표시되므로 받는 쪽에 설정하세요.",
        en: "This is the new signing secret. It is shown only now: configure it at the receiver."
    )
    static let empty = Text(ko: "아직 웹훅이 없습니다.", en: "There are no webhooks yet.")
    static let emptyStep = Text(
        ko: "아래 양식에 이벤트를 받을 HTTPS 주소를 입력하세요.",
        en: "Enter the HTTPS address that receives events in the form below."
    )

    // MARK: Sentences

    static func stoppedBecause(_ url: String, _ error: String) -> Text {
        Text(
            ko: "\(url) 웹훅은 3일 동안 실패해 중단되었습니다(\(error)). 받는 쪽을 고친 뒤 다시 시작하세요.",
            en:
                "The webhook \(url) was stopped after three days of failures (\(error)). Fix the receiver, then resume it."
        )
    }

    static func failingBecause(_ url: String, _ count: String, _ error: String) -> Text {
        Text(
            ko: "\(url) 웹훅 호출이 \(count)번 연속 실패했습니다(\(error)). 다시 시도하고 있습니다.",
            en: "The webhook \(url) failed \(count, one: "time") in a row (\(error)). The gateway keeps trying."
        )
    }

    static func pausedBehind(_ url: String, _ lag: String) -> Text {
        Text(
            ko: "\(url) 웹훅은 일시 중지 상태이며 이벤트 \(lag)건이 기다립니다.",
            en: "The webhook \(url) is paused; \(lag, one: "event is", many: "events are") waiting."
        )
    }

    static func behind(_ url: String, _ lag: String) -> Text {
        Text(
            ko: "\(url) 웹훅에 이벤트 \(lag)건이 밀려 있습니다.",
            en: "The webhook \(url) is \(lag, one: "event") behind."
        )
    }

    static func allFine(_ count: String) -> Text {
        Text(
            ko: "웹훅 \(count)개가 모두 정상이며 밀린 이벤트가 없습니다.",
            en: count == "1"
                ? "The webhook is active and not behind." : "All \(count) webhooks are active and not behind."
        )
    }

    static let fine = Text(
        ko: "웹훅이 정상이며 밀린 이벤트가 없습니다.",
        en: "The webhook is active and not behind."
    )
}
