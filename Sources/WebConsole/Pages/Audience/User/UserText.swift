import PageParts

/// The texts of the pages of users.
enum UserText {
    static let list = Text(ko: "사용자", en: "Users")
    static let user = Text(ko: "사용자", en: "User")
    static let devices = Text(ko: "단말", en: "Devices")
    static let caption = Text(ko: "사용자, 이름 순", en: "Users by name")
    static let empty = Text(ko: "이 앱에 등록된 사용자가 없습니다.", en: "The app has no users.")
    static let emptyStep = Text(
        ko: "사용자와 함께 단말이 등록되거나 백엔드가 사용자를 등록하면 여기에 표시됩니다. 다른 벤더를 선택해 보세요.",
        en:
            "Users appear here when devices register with a user, or a back end describes one. Other vendors have users of their own."
    )
    static func count(_ count: String, _ without: String) -> Text {
        Text(
            ko: "표시한 사용자 \(count)명 가운데 \(without)명은 단말이 없어 알림을 받을 수 없습니다.",
            en:
                "\(count, one: "user") shown, of which \(without, one: "has", many: "have") no device and cannot be notified."
        )
    }
    static func all(_ count: String) -> Text {
        Text(
            ko: "표시한 사용자 \(count)명 모두 단말이 있습니다.",
            en: "\(count, one: "user shown. The user has", many: "users shown. Each has") a device."
        )
    }

    static let noDevice = Text(
        ko: "이 사용자에게는 단말이 없어 알림을 보낼 수 없습니다.",
        en: "This user has no device and cannot be notified."
    )
    static let off = Text(
        ko: "이 사용자의 모든 단말에서 알림 수신이 꺼져 있습니다.",
        en: "Notifications are switched off on all devices of this user."
    )
    static let noToken = Text(
        ko: "이 사용자의 단말에 토큰이 없습니다. 앱을 다시 열면 등록됩니다.",
        en: "No device of this user has a token. One is registered the next time the app opens."
    )
    static func reachable(_ count: String) -> Text {
        Text(
            ko: "이 사용자의 단말 \(count)대가 알림을 받을 수 있습니다.",
            en: "\(count, one: "device") of this user can be notified."
        )
    }

    static let key = Text(ko: "키", en: "Key")
    static let platform = Text(ko: "플랫폼", en: "Platform")
    static let accepts = Text(ko: "알림 수신", en: "Notifications")
    static let token = Text(ko: "토큰", en: "Token")
    static let has = Text(ko: "있음", en: "Yes")
    static let hasNot = Text(ko: "없음", en: "No")
    static let attributes = Text(ko: "속성", en: "Attributes")
    static let noAttributes = Text(ko: "속성이 없습니다.", en: "The user has no attributes.")
    static let consents = Text(ko: "주제별 수신 동의", en: "Consents")
    static let subject = Text(ko: "주제", en: "Subject")
    static let decision = Text(ko: "결정", en: "Decision")
    static let subscribed = Text(ko: "수신 동의", en: "Subscribed")
    static let unsubscribed = Text(ko: "수신 거부", en: "Unsubscribed")
    static let noConsents = Text(ko: "기록된 동의가 없습니다.", en: "No consent is recorded.")
    static let aliases = Text(ko: "다른 이름", en: "Aliases")
    static let label = Text(ko: "종류", en: "Label")
    static let name = Text(ko: "이름", en: "Name")
    static let activities = Text(ko: "활동", en: "Activities")
    static let count = Text(ko: "횟수", en: "Count")
    static let last = Text(ko: "마지막", en: "Last")

    static let preferences = Text(ko: "수신 설정", en: "Preferences")
    static let save = Text(ko: "수신 설정 저장", en: "Save preferences")
    static let changed = Text(ko: "수신 설정을 저장했습니다.", en: "The preferences are saved.")
    static let consent = Text(ko: "동의 기록", en: "Record consent")
    static let recorded = Text(ko: "동의를 기록했습니다.", en: "The consent is recorded.")
    static let erase = Text(ko: "사용자 삭제", en: "Erase user")
    static let erased = Text(ko: "사용자를 삭제했습니다.", en: "The user is erased.")
    static let wasUnknown = Text(ko: "이 이름의 사용자가 없었습니다.", en: "There was no user of this name.")
    static func eraseQuestion(_ user: String) -> Text {
        Text(
            ko: "모든 앱에서 사용자 ‘\(user)’의 단말, 등록 정보, 그룹, 속성, 동의를 삭제합니다. 되돌릴 수 없습니다.",
            en:
                "This erases user “\(user)” in every app: devices, identities, groups, attributes and consents. It cannot be undone."
        )
    }
}
