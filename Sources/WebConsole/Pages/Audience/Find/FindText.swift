import PageParts

/// The texts of the page that finds devices, users and messages.
enum FindWords {
    static let title = Text(ko: "단말·사용자", en: "Devices and users")
    static let box = Text(ko: "전화번호, 사용자, 키, 토큰 또는 ID", en: "Phone number, user, key, token or ID")
    static let hint = Text(
        ko: "전화번호는 숫자만 비교합니다. 메시지 번호와 ID로도 찾을 수 있습니다. 표시 이름으로는 찾을 수 없습니다.",
        en:
            "Only the digits of a phone number are compared. Numbers and IDs of messages are found too; display names are not."
    )
    static let search = Text(ko: "검색", en: "Find")
    static let devices = Text(ko: "단말", en: "Devices")
    static let messages = Text(ko: "메시지", en: "Messages")
    static let users = Text(ko: "사용자", en: "Users")
    static let device = Text(ko: "단말", en: "Device")
    static let user = Text(ko: "사용자", en: "User")
    static let identities = Text(ko: "등록 정보", en: "Identities")
    static let token = Text(ko: "토큰", en: "Token")
    static let seen = Text(ko: "마지막 접속", en: "Last seen")
    static let diagnosis = Text(ko: "진단", en: "Diagnosis")
    static let diagnose = Text(ko: "단말 진단", en: "Diagnose device")
    static let more = Text(
        ko: "종류마다 20개까지 표시합니다. 더 정확한 값으로 검색하세요.",
        en: "At most 20 objects of a kind are shown. Search for a more precise value."
    )
    static let allDevices = Text(ko: "등록된 단말", en: "Registered devices")
    static let allUsers = Text(ko: "사용자 목록", en: "List of users")
    static let allGroups = Text(ko: "그룹 목록", en: "List of groups")
    static let noDevices = Text(ko: "아직 등록된 단말이 없습니다.", en: "No device is registered yet.")
    static let noDevicesStep = Text(
        ko: "앱의 SDK가 이 게이트웨이를 가리키도록 설정하고 앱을 여세요. 주소는 ‘앱·연동’에 있습니다.",
        en: "Point the SDK of the app to this gateway, then open the app. Apps and bindings shows the address."
    )
    static let nothing = Text(
        ko: "이 값을 가진 단말, 사용자, 메시지가 없습니다. 전화번호라면 국가 번호를 붙이거나 빼고 검색해 보세요.",
        en: "No device, user or message has this name. Search for a phone number with or without its country code."
    )
    static let begin = Text(
        ko: "전화번호나 토큰을 입력하면 단말과 알림이 가지 않은 이유를 찾습니다.",
        en: "Enter a phone number or token to find a device, and why it was not notified."
    )

    /// The kind of name by which objects were found.
    static func kind(_ kind: String?) -> Text {
        switch kind {
        case "message": Text(ko: "메시지 ID", en: "Message ID")
        case "messageNumber": Text(ko: "벤더의 메시지 번호", en: "Message number of the vendor")
        case "device": Text(ko: "단말 ID", en: "Device ID")
        case "identity": Text(ko: "등록 ID", en: "Identity ID")
        case "token": Text(ko: "토큰", en: "Push token")
        case "key": Text(ko: "단말 키", en: "Device key")
        case "phone": Text(ko: "전화번호", en: "Phone number")
        case "user": Text(ko: "사용자", en: "User")
        case let other?: Text(ko: Reading.line(other, 40), en: Reading.line(other, 40))
        case nil: Text(ko: Words.unknown, en: Words.unknown)
        }
    }

    static func usable(_ kind: String) -> Text {
        Text(
            ko: "\(kind)(으)로 단말 1대를 찾았습니다. 토큰을 사용할 수 있습니다.",
            en: "One device was found by \(kind). Its token can be used."
        )
    }
    static func unusable(_ kind: String) -> Text {
        Text(
            ko: "\(kind)(으)로 단말 1대를 찾았습니다. 이 단말에는 알림을 보낼 수 없습니다. 진단에서 이유를 확인하세요.",
            en: "One device was found by \(kind). It cannot be notified; the diagnosis shows why."
        )
    }
    static func found(_ devices: String, _ users: String, _ messages: String) -> Text {
        Text(
            ko: "단말 \(devices)대, 사용자 \(users)명, 메시지 \(messages)건을 찾았습니다.",
            en: "Found: devices \(devices), users \(users), messages \(messages)."
        )
    }
}
