import Model

/// The states of messages, deliveries, tokens and registrations, and the lanes, by their words in answers of the API. An unknown word stands for itself.
package enum StateWords {
    package static func message(_ state: String) -> Text {
        guard let known = MessageState(rawValue: state) else { return Text(ko: state, en: state) }
        return switch known {
        case .scheduled: Text(ko: "예약", en: "Scheduled")
        case .expanding: Text(ko: "대상 확인 중", en: "Resolving recipients")
        case .sending: Text(ko: "진행 중", en: "In progress")
        case .paused: Text(ko: "일시 중지", en: "Paused")
        case .done: Text(ko: "완료", en: "Completed")
        case .canceled: Text(ko: "취소", en: "Canceled")
        case .expired: Text(ko: "기간 만료", en: "Expired")
        case .dead: Text(ko: "재시도 중단", en: "Gave up")
        case .awaitingApproval: Text(ko: "승인 대기", en: "Awaiting approval")
        case .observed: Text(ko: "관찰됨", en: "Observed")
        }
    }

    package static func mark(ofMessage state: String) -> Mark {
        switch MessageState(rawValue: state) {
        case .done: .ok
        case .scheduled, .expanding, .sending, .observed: .info
        case .paused, .awaitingApproval: .warn
        case .dead: .bad
        case .canceled, .expired, nil: .idle
        }
    }

    package static func delivery(_ state: String) -> Text {
        guard let known = DeliveryState(rawValue: state) else { return Text(ko: state, en: state) }
        return switch known {
        case .queued: Text(ko: "대기", en: "Queued")
        case .sent: Text(ko: "APNs 접수", en: "Accepted by APNs")
        case .received: Text(ko: "수신 확인", en: "Received")
        case .read: Text(ko: "읽음", en: "Read")
        case .failed: Text(ko: "미접수", en: "Not accepted")
        case .suppressed: Text(ko: "발신 제외", en: "Suppressed")
        case .expired: Text(ko: "기간 만료", en: "Expired")
        case .canceled: Text(ko: "취소", en: "Canceled")
        }
    }

    package static func mark(ofDelivery state: String) -> Mark {
        switch DeliveryState(rawValue: state) {
        case .sent, .received, .read: .ok
        case .queued: .info
        case .failed: .bad
        case .suppressed, .expired, .canceled, nil: .idle
        }
    }

    package static func token(_ state: String) -> Text {
        guard let known = TokenState(rawValue: state) else { return Text(ko: state, en: state) }
        return switch known {
        case .none: Text(ko: "토큰 없음", en: "No token")
        case .active: Text(ko: "정상", en: "Valid")
        case .invalid: Text(ko: "만료", en: "Invalid")
        case .quarantined: Text(ko: "사용 보류", en: "Not used until the next registration")
        }
    }

    package static func identity(_ state: String) -> Text {
        guard let known = IdentityState(rawValue: state) else { return Text(ko: state, en: state) }
        return switch known {
        case .active: Text(ko: "등록됨", en: "Active")
        case .replaced: Text(ko: "대체됨", en: "Replaced")
        case .unregistered: Text(ko: "등록 해지", en: "Unregistered")
        case .removed: Text(ko: "삭제됨", en: "Removed")
        }
    }

    package static func lane(_ lane: String) -> Text {
        switch lane {
        case "urgent": Text(ko: "긴급", en: "Urgent")
        case "transactional": Text(ko: "거래", en: "Transactional")
        case "bulk": Text(ko: "대량", en: "Bulk")
        case "background": Text(ko: "백그라운드", en: "Background")
        default: Text(ko: lane, en: lane)
        }
    }

    /// The stages in which deliveries are lost.
    package static func stage(_ stage: String) -> Text {
        switch FunnelStage(rawValue: stage) {
        case .suppressed: Text(ko: "발신 제외", en: "suppressed")
        case .canceled: Text(ko: "취소", en: "canceled")
        case .expired, .expiredTried: Text(ko: "기간 만료", en: "expired")
        case .unsendable: Text(ko: "발신 불가", en: "unsendable")
        case .rejected: Text(ko: "거절", en: "rejected")
        case .uncertain: Text(ko: "결과 미확인", en: "uncertain")
        case .targets, .accepted, .received, .read, .observedSent, .observedAccepted, nil: Text(ko: stage, en: stage)
        }
    }
}
