import Model

/// The words and marks of states, lanes and stages, by their names in answers of the API. An unknown name stands for itself.
enum StateWords {
    /// The state of a message.
    static func message(_ state: String?) -> (mark: Mark, text: Text) {
        switch state.flatMap({ MessageState(rawValue: $0) }) {
        case .scheduled: (.info, Text(ko: "예약", en: "Scheduled"))
        case .expanding: (.info, Text(ko: "대상 조회 중", en: "Finding recipients"))
        case .sending: (.info, Text(ko: "진행 중", en: "In progress"))
        case .paused: (.warn, Text(ko: "일시 중지", en: "Paused"))
        case .done: (.ok, Text(ko: "완료", en: "Completed"))
        case .canceled: (.idle, Text(ko: "취소", en: "Canceled"))
        case .expired: (.bad, Text(ko: "기간 만료", en: "Expired"))
        case .dead: (.bad, Text(ko: "재시도 중단", en: "Gave up"))
        case .awaitingApproval: (.warn, Text(ko: "승인 대기", en: "Awaiting approval"))
        case .observed: (.idle, Text(ko: "관찰됨", en: "Observed"))
        case nil: unknown(state)
        }
    }

    /// The state of a delivery.
    static func delivery(_ state: String?) -> (mark: Mark, text: Text) {
        switch state.flatMap({ DeliveryState(rawValue: $0) }) {
        case .queued: (.info, Text(ko: "대기", en: "Queued"))
        case .sent: (.warn, Text(ko: "수신 확인 없음", en: "No receipt"))
        case .received: (.ok, Text(ko: "수신 확인", en: "Received"))
        case .read: (.ok, Text(ko: "읽음", en: "Read"))
        case .failed: (.bad, Text(ko: "미접수", en: "Not accepted"))
        case .suppressed: (.idle, Text(ko: "발신 제외", en: "Suppressed"))
        case .expired: (.bad, Text(ko: "기간 만료", en: "Expired"))
        case .canceled: (.idle, Text(ko: "취소", en: "Canceled"))
        case nil: unknown(state)
        }
    }

    /// The state of a registration.
    static func identity(_ state: String?) -> (mark: Mark, text: Text) {
        switch state.flatMap({ IdentityState(rawValue: $0) }) {
        case .active: (.ok, Text(ko: "사용 중", en: "Active"))
        case .replaced: (.idle, Text(ko: "다른 등록으로 대체됨", en: "Replaced"))
        case .unregistered: (.idle, Text(ko: "등록 해제됨", en: "Unregistered"))
        case .removed: (.idle, Text(ko: "삭제됨", en: "Removed"))
        case nil: unknown(state)
        }
    }

    /// The state of a token.
    static func token(_ state: String?) -> (mark: Mark, text: Text) {
        switch state.flatMap({ TokenState(rawValue: $0) }) {
        case .none?: (.bad, Text(ko: "토큰 없음", en: "No token"))
        case .active: (.ok, Text(ko: "사용 가능", en: "Usable"))
        case .invalid: (.bad, Text(ko: "만료", en: "Expired"))
        case .quarantined: (.warn, Text(ko: "보류", en: "Held back"))
        case nil: unknown(state)
        }
    }

    /// How well the user of a registration is known.
    static func assurance(_ level: String?) -> Text {
        switch level.flatMap({ Assurance(rawValue: $0) }) {
        case .pending: Text(ko: "확인 대기", en: "Pending")
        case .claimed: Text(ko: "앱이 알림", en: "Claimed by the app")
        case .possession: Text(ko: "단말로 확인", en: "Confirmed by the device")
        case .vouched: Text(ko: "백엔드가 확인", en: "Confirmed by the back end")
        case nil: unknown(level).text
        }
    }

    /// Apple's environment of a token.
    static func environment(_ name: String?) -> Text {
        switch name {
        case "production": Text(ko: "운영용", en: "production")
        case "sandbox": Text(ko: "개발용", en: "sandbox")
        case let other?: Text(ko: ConsoleFormat.line(other, 40), en: ConsoleFormat.line(other, 40))
        case nil: Text(ko: ConsoleFormat.unknown, en: ConsoleFormat.unknown)
        }
    }

    static func lane(_ lane: String) -> Text {
        switch lane {
        case "urgent": Text(ko: "긴급", en: "Urgent")
        case "transactional": Text(ko: "거래", en: "Transactional")
        case "bulk": Text(ko: "대량", en: "Bulk")
        case "background": Text(ko: "백그라운드", en: "Background")
        default: unknown(lane).text
        }
    }

    /// The stages in which deliveries are lost.
    static func stage(_ stage: String) -> Text {
        switch FunnelStage(rawValue: stage) {
        case .suppressed: Text(ko: "발신 제외", en: "suppressed")
        case .canceled: Text(ko: "취소", en: "canceled")
        case .expired, .expiredTried: Text(ko: "기간 만료", en: "expired")
        case .unsendable: Text(ko: "발신 불가", en: "unsendable")
        case .rejected: Text(ko: "거절", en: "rejected")
        case .uncertain: Text(ko: "결과 미확인", en: "uncertain")
        case .targets, .accepted, .received, .read, nil: unknown(stage).text
        }
    }

    private static func unknown(_ state: String?) -> (mark: Mark, text: Text) {
        let text = state.map { ConsoleFormat.line($0, 40) } ?? ConsoleFormat.unknown
        return (.idle, Text(ko: text, en: text))
    }

    static func tag(_ words: (mark: Mark, text: Text), _ language: Language) -> Table.Cell {
        .tag(words.mark, words.text(language))
    }
}
