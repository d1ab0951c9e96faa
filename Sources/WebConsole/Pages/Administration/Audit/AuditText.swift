import PageParts

enum AuditText {
    static let title = Text(ko: "감사 로그", en: "Audit log")
    static let actor = Text(ko: "수행자", en: "Actor")
    static let action = Text(ko: "행위", en: "Action")
    static let subject = Text(ko: "대상", en: "Subject")
    static let position = Text(ko: "번호", en: "No.")
    static let details = Text(ko: "세부 정보", en: "Details")
    static let changes = Text(ko: "변경 내용", en: "Changes")
    static let setting = Text(ko: "설정", en: "Setting")
    static let before = Text(ko: "이전", en: "Before")
    static let after = Text(ko: "이후", en: "After")
    static let actorHint = Text(ko: "account:kim, key:backend, cli:0", en: "account:kim, key:backend, cli:0")
    static let subjectHint = Text(ko: "app shop, user u-1", en: "app shop, user u-1")
    static let empty = Text(ko: "아직 기록이 없습니다.", en: "There are no entries yet.")
    static let emptyStep = Text(
        ko: "설정을 바꾸거나 개인 정보를 조회하면 여기에 기록됩니다.",
        en: "Changes of settings and reads of personal data appear here."
    )
    static let noMatch = Text(
        ko: "이 조건에 맞는 기록이 없습니다. 조건을 지우거나 다음 페이지를 확인하세요.",
        en: "No entry matches the filters. Remove one, or look at the next page."
    )
    static let searched = Text(
        ko: "조건을 지정하면 한 페이지에서 최근 10,000건까지 찾습니다.",
        en: "With filters, a page searches 10,000 entries."
    )

    /// The subject of an entry, such as `app shop`, with its kind in the language of the page; one of another kind as it is.
    static func subjectName(_ subject: String) -> Text {
        for (kind, ko) in kinds where subject.hasPrefix(kind + " ") {
            return Text(ko: "\(ko)\(subject.dropFirst(kind.count))", en: subject)
        }
        return Text(ko: subject, en: subject)
    }

    private static let kinds = [
        ("account", "계정"), ("app", "앱"), ("capture", "요청 로그"), ("credential", "인증서·키"), ("device key", "단말 키"),
        ("device", "단말"), ("key", "API 키"), ("message", "메시지"), ("migration", "마이그레이션"), ("page", "페이지"),
        ("routes", "라우팅 규칙"), ("tenant", "테넌트"), ("user", "사용자"), ("webhook", "웹훅"),
    ]

    /// The actions of the audit; another one is shown by its name.
    static let actions: [(name: String, text: Text)] = [
        ("create", Text(ko: "생성", en: "Created")), ("write", Text(ko: "변경", en: "Changed")),
        ("remove", Text(ko: "제거", en: "Removed")), ("retire", Text(ko: "앱 제거", en: "App removed")),
        ("revoke", Text(ko: "폐기", en: "Revoked")), ("rotate", Text(ko: "비밀 값 교체", en: "Secret replaced")),
        ("erase", Text(ko: "개인 정보 삭제", en: "Erased")), ("import", Text(ko: "가져오기 시작", en: "Import begun")),
        ("imported", Text(ko: "가져오기 완료", en: "Imported")), ("compare", Text(ko: "비교", en: "Compared")),
        ("export", Text(ko: "내보내기", en: "Exported")), ("pause", Text(ko: "일시 중지", en: "Paused")),
        ("resume", Text(ko: "다시 시작", en: "Resumed")), ("requeue", Text(ko: "재발신", en: "Requeued")),
        ("cancel", Text(ko: "취소", en: "Canceled")), ("approve", Text(ko: "승인", en: "Approved")),
        ("start", Text(ko: "시작", en: "Started")), ("stop", Text(ko: "중지", en: "Stopped")),
        ("backup", Text(ko: "백업", en: "Backed up")), ("restore", Text(ko: "복원", en: "Restored")),
        ("replay", Text(ko: "다시 전달", en: "Replayed")), ("recount", Text(ko: "재집계", en: "Recounted")),
        ("attach", Text(ko: "보고 연결", en: "Reports attached")),
        ("detach", Text(ko: "보고 해제", en: "Reports detached")),
        ("read", Text(ko: "조회", en: "Read")), ("refuse", Text(ko: "거절", en: "Refused")),
        ("invite", Text(ko: "초대", en: "Invited")), ("signin", Text(ko: "로그인", en: "Signed in")),
        ("disable", Text(ko: "사용 중지", en: "Disabled")), ("enable", Text(ko: "사용 재개", en: "Enabled")),
        ("unlock", Text(ko: "잠금 해제", en: "Unlocked")), ("reveal", Text(ko: "가린 값 표시", en: "Revealed")),
    ]

    static func actionName(_ action: String) -> Text {
        actions.first { $0.name == action }?.text ?? Text(ko: action, en: action)
    }

    // MARK: Sentences

    static func last(_ actor: String, _ action: String, _ subject: String, _ time: String) -> Text {
        Text(
            ko: "마지막 기록: \(time), \(actor), \(action), \(subject)",
            en: "Last entry: \(time), \(actor), \(action), \(subject)"
        )
    }

    static func refused(_ count: String, _ time: String) -> Text {
        Text(
            ko: "표시된 기록 중 \(count)건은 인증 거절입니다. 마지막 거절: \(time)",
            en:
                "\(count, one: "of the entries shown is a refused proof", many: "of the entries shown are refused proofs"), the last on \(time)."
        )
    }

    static func found(_ count: String, _ first: String, _ last: String) -> Text {
        Text(
            ko: "조건에 맞는 기록 \(count)건을 표시합니다(\(first) – \(last)).",
            en: "\(count, one: "entry matches (\(last))", many: "entries match (\(first) to \(last))")."
        )
    }
}
