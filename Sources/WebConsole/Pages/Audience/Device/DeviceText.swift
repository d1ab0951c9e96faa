import PageParts

/// The texts of the page of a device.
enum DeviceText {
    static let title = Text(ko: "단말", en: "Device")
    static let why = Text(ko: "왜 알림이 가지 않았나요?", en: "Why was it not notified?")
    static let facts = Text(ko: "단말 정보", en: "Facts")
    static let identities = Text(ko: "벤더별 등록 정보", en: "Identities per vendor")
    static let preferences = Text(ko: "수신 설정", en: "Preferences")
    static let inbox = Text(ko: "받은 메시지함", en: "Inbox")
    static let activities = Text(ko: "Live Activities 토큰", en: "Tokens for Live Activities")
    static let erase = Text(ko: "단말 삭제", en: "Erase device")

    static let id = Text(ko: "단말 ID", en: "Device ID")
    static let platform = Text(ko: "플랫폼", en: "Platform")
    static let environment = Text(ko: "환경", en: "Environment")
    static let token = Text(ko: "토큰", en: "Token")
    static let created = Text(ko: "첫 등록", en: "First registered")
    static let seen = Text(ko: "마지막 접속", en: "Last seen")
    static let zone = Text(ko: "시간대", en: "Time zone")
    static let window = Text(ko: "수신 허용 시간", en: "Receiving window")
    static let unread = Text(ko: "읽지 않은 메시지", en: "Unread messages")
    static let model = Text(ko: "기종", en: "Model")
    static let os = Text(ko: "운영체제", en: "System")
    static let appVersion = Text(ko: "앱 버전", en: "App version")
    static let sdk = Text(ko: "SDK 버전", en: "SDK version")
    static let locale = Text(ko: "언어·지역", en: "Language and region")

    static let key = Text(ko: "키", en: "Key")
    static let user = Text(ko: "사용자", en: "User")
    static let name = Text(ko: "이름", en: "Name")
    static let phone = Text(ko: "전화번호", en: "Phone")
    static let accepts = Text(ko: "알림 수신", en: "Notifications")
    static let tags = Text(ko: "태그", en: "Tags")
    static let level = Text(ko: "사용자 확인", en: "User confirmed")
    static let registered = Text(ko: "등록", en: "Registered")
    static let vouch = Text(ko: "사용자 확인", en: "Confirm user")
    static let vouched = Text(ko: "사용자를 확인했습니다.", en: "The user is confirmed.")
    static let actions = Text(ko: "작업", en: "Actions")

    static let keep = Text(ko: "변경 안 함", en: "Unchanged")
    static let from = Text(ko: "수신 허용 시작", en: "Window from")
    static let to = Text(ko: "수신 허용 끝", en: "Window to")
    static let windowHint = Text(
        ko: "예: 09:00. 단말의 시간대 기준입니다. 00:00부터 23:59까지는 제한이 없습니다.",
        en: "Such as 09:00, in the time zone of the device. 00:00 to 23:59 removes the window."
    )
    static let zoneHint = Text(ko: "예: Asia/Seoul", en: "Such as Asia/Seoul")
    static let tagsHint = Text(
        ko: "쉼표로 구분한 전체 태그입니다. 모든 등록 정보에 적용됩니다.",
        en: "All tags, separated by commas. They apply to all identities."
    )
    static let save = Text(ko: "수신 설정 저장", en: "Save preferences")
    static let changed = Text(ko: "수신 설정을 저장했습니다.", en: "The preferences are saved.")
    static let nothing = Text(ko: "변경할 값을 입력하세요.", en: "Enter a value to change.")
    static let badWindow = Text(
        ko: "시작과 끝을 09:00과 같은 형식으로 모두 입력하세요.",
        en: "Enter both ends in the form 09:00."
    )
    static func changedMeanwhile(_ value: String) -> Text {
        let shown = value.isEmpty ? "–" : Reading.line(value, 400)
        return Text(
            ko: "다른 사용자가 먼저 변경했습니다. 현재 값: \(shown). 입력한 값은 아직 저장되지 않았습니다. 다시 저장하면 바뀝니다.",
            en: "Another user changed this meanwhile to: \(shown). Your value is not saved. Save again to replace it."
        )
    }
    static let eraseQuestion = Text(
        ko: "단말과 등록 정보를 삭제하고, 발신 기록에서 이 단말을 알아볼 수 없게 합니다. 되돌릴 수 없습니다.",
        en: "This erases the device, its identities, and their names in deliveries and events. It cannot be undone."
    )
    static let erased = Text(ko: "단말을 삭제했습니다.", en: "The device is erased.")

    static let message = Text(ko: "메시지", en: "Message")
    static let emptyInbox = Text(ko: "이 단말이 받은 메시지가 없습니다.", en: "The device has no messages.")
    static let emptyInboxStep = Text(
        ko: "이 단말로 메시지를 발신하면 여기에 표시됩니다.",
        en: "Messages to this device appear here."
    )
    static let emptyActivities = Text(
        ko: "앱이 Live Activities 토큰을 알리지 않았습니다.",
        en: "The app has not reported tokens for Live Activities."
    )
    static let activity = Text(ko: "활동", en: "Activity")
    static let start = Text(ko: "시작용", en: "push-to-start")
}
