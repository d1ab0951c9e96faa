import PageParts

enum CredentialsText {
    static let title = Text(ko: "인증서·키", en: "Credentials")
    static let kind = Text(ko: "종류", en: "Kind")
    static let tokenKind = Text(ko: "APNs 인증 키 (.p8)", en: "APNs key (.p8)")
    static let certificateKind = Text(ko: "APNs 인증서", en: "APNs certificate")
    static let team = Text(ko: "팀 ID", en: "Team ID")
    static let keyID = Text(ko: "키 ID", en: "Key ID")
    static let uses = Text(ko: "사용하는 앱", en: "Used for")
    static let unused = Text(ko: "사용하는 앱 없음", en: "Not used by an app")
    static let expires = Text(ko: "만료", en: "Expires")
    static let registered = Text(ko: "등록 시각", en: "Registered")
    static let never = Text(ko: "만료 없음", en: "Does not expire")
    static let valid = Text(ko: "정상", en: "Valid")
    static let refused = Text(ko: "APNs 거절", en: "Refused by APNs")
    static let upstreamRefused = Text(ko: "벤더 거절", en: "Refused by the vendor")
    static let unusable = Text(ko: "사용 불가", en: "Unusable")
    static let expiring = Text(ko: "곧 만료", en: "Expires soon")
    static let rate = Text(ko: "초당 최대 발신", en: "Limit per second")
    static let noRate = Text(ko: "제한 없음", en: "No limit")
    static let address = Text(ko: "주소", en: "Address")
    static let secrets = Text(ko: "보관 중인 비밀 값", en: "Stored secrets")
    static let secretNote = Text(
        ko: "비밀 값은 암호화해 보관하며 다시 표시하지 않습니다.",
        en: "Secrets are stored sealed and are never shown."
    )
    static let topics = Text(ko: "토픽", en: "Topics")
    static let allTopics = Text(ko: "팀의 모든 토픽", en: "All topics of the team")
    static let environment = Text(ko: "환경", en: "Environment")
    static let checks = Text(ko: "사전 점검", en: "Preflight")
    static let checksNote = Text(
        ko: "점검을 위해 APNs로 보내는 것은 없습니다.",
        en: "Nothing is sent to APNs for these checks."
    )
    static let file = Text(ko: "파일", en: "File")
    static let accepted = Text(ko: "APNs 응답", en: "APNs")
    static let facts = Text(ko: "인증서·키 정보", en: "The credential")
    static let delete = Text(ko: "인증서·키 삭제", en: "Delete credential")

    static func deleteQuestion(_ id: String) -> Text {
        Text(
            ko: "\(id) 인증서·키를 삭제합니다. 앱이 사용 중이면 삭제되지 않습니다.",
            en: "The credential \(id) is deleted. A credential that an app uses is not deleted."
        )
    }

    // MARK: Checks

    static let fine = Text(ko: "문제가 없습니다.", en: "No problem was found.")
    static let unknownUse = Text(
        ko: "이 인증서·키를 사용하는 앱이 아직 없어 점검할 수 없습니다.",
        en: "No app uses the credential yet, so this cannot be checked."
    )
    static let notRefused = Text(
        ko: "APNs가 이 인증서·키를 거절하지 않았습니다.",
        en: "APNs has not refused the credential."
    )

    static func refusal(_ reason: String, _ since: String) -> Text {
        Text(
            ko: "\(since)부터 \(reason) 사유로 거절합니다.",
            en: "Refused since \(since): \(reason)."
        )
    }

    /// The remedy for a refusal of APNs.
    static func remedy(_ reason: String) -> Text? {
        switch reason {
        case "InvalidProviderToken":
            Text(
                ko: "팀 ID, 키 ID, 키 파일이 서로 맞지 않거나 키가 폐기되었습니다. Apple 개발자 사이트의 Keys에서 키 ID와 팀 ID를 확인한 뒤 다시 등록하세요.",
                en:
                    "Team ID, key ID and file do not belong together, or the key was revoked. Compare both IDs under Keys in Apple's developer account, then upload again."
            )
        case "ExpiredProviderToken":
            Text(
                ko: "노드의 시계가 맞지 않습니다. 시간 동기화(NTP)를 확인하세요.",
                en: "The clock of a node is wrong. Check its time synchronization (NTP)."
            )
        case "TopicDisallowed", "DeviceTokenNotForTopic":
            Text(
                ko: "이 인증서·키로는 앱의 토픽에 발신할 수 없습니다. 앱의 번들 ID와 같은 팀의 키인지 확인하세요.",
                en:
                    "The credential may not send to the app's topic. Check that it belongs to the team of the bundle ID."
            )
        case "BadCertificateEnvironment", "BadEnvironmentKeyInToken":
            Text(
                ko: "인증서·키의 환경(운영용·개발용)이 맞지 않습니다. 해당 환경용을 등록하세요.",
                en: "The credential is for the other environment. Upload one for this environment."
            )
        case "BadCertificate", "CertificateRevoked", "CertificateExpired":
            Text(
                ko: "인증서가 폐기되었거나 만료되었습니다. 새로 발급해 등록하세요.",
                en: "The certificate was revoked or has expired. Create a new one and upload it."
            )
        default: nil
        }
    }

    // MARK: Upload

    static let upload = Text(ko: "인증서·키 등록", en: "Upload a credential")
    static let replace = Text(ko: "새 파일로 교체", en: "Replace the file")
    static let submit = Text(ko: "점검하고 등록", en: "Check and store")
    static let name = Text(ko: "이름", en: "Name")
    static let nameHint = Text(
        ko: "앱의 platforms에서 이 이름을 사용합니다. 같은 이름이 있으면 교체됩니다.",
        en: "The platforms of apps use this name. A credential of the same name is replaced."
    )
    static let fileLabel = Text(ko: "파일 (.p8, .p12, .pem)", en: "File (.p8, .p12 or .pem)")
    static let idHint = Text(
        ko: ".p8에만 필요합니다. 영문 대문자와 숫자 10자리입니다.",
        en: "For a .p8 only: ten capital letters and digits."
    )
    static let passphrase = Text(ko: "암호", en: "Passphrase")
    static let passphraseHint = Text(ko: ".p12의 암호입니다.", en: "That of the .p12 file.")
    static let topicHint = Text(
        ko: "토픽을 지정한 .p8이면 쉼표로 구분해 입력하세요. 비우면 팀의 모든 토픽입니다.",
        en: "For a topic-specific .p8, separated by commas. Empty: all topics of the team."
    )
    static let force = Text(
        ko: "앱의 토픽이나 환경과 맞지 않아도 등록",
        en: "Store it although it does not fit the apps that use it"
    )
    static let exists = Text(
        ko: "같은 이름의 인증서·키가 이미 있습니다. 등록된 것은 없습니다. 교체하려면 목록에서 여세요.",
        en: "A credential of this name exists already. Nothing was stored. To replace it, open it from the list."
    )
    static let changedMeanwhile = Text(
        ko: "이 페이지를 연 뒤 다른 사람이 이 인증서·키를 변경했습니다. 요청은 처리되지 않았습니다. 현재 값을 확인한 뒤 다시 보내세요.",
        en:
            "Another person changed this credential after you opened the page. Your request was not carried out. Check the present values, then send the form again."
    )
    static let deletedMeanwhile = Text(
        ko: "이 페이지를 연 뒤 다른 사람이 이 인증서·키를 삭제했습니다. 등록된 것은 없습니다.",
        en: "Another person deleted this credential after you opened the page. Nothing was stored."
    )
    static let compare = Text(
        ko: "입력한 내용은 아직 등록되지 않았습니다. 두 내용을 비교하고 파일을 다시 선택한 뒤 등록하세요.",
        en: "Your input is not stored yet. Compare both, choose the file again, then store it."
    )
    static let theirs = Text(ko: "현재 값", en: "Stored now")
    static let mine = Text(ko: "입력한 값", en: "Typed")
    static let stored = Text(
        ko: "등록했습니다. 아래 사전 점검을 확인하세요.",
        en: "The credential is stored. Read the preflight below."
    )

    // MARK: Errors of files

    static let noFile = Text(ko: "파일을 선택하세요.", en: "Choose a file.")
    static let noTeam = Text(
        ko: ".p8에는 팀 ID가 필요합니다. Apple 개발자 사이트의 Membership에 있습니다.",
        en: "A .p8 needs the team ID. It is under Membership in Apple's developer account."
    )
    static let noKeyID = Text(
        ko: ".p8에는 키 ID가 필요합니다. 파일 이름 AuthKey_ 뒤의 10자리입니다.",
        en: "A .p8 needs the key ID: the ten characters after AuthKey_ in the file's name."
    )
    static let oddID = Text(
        ko: "Apple의 ID는 영문 대문자와 숫자 10자리입니다.",
        en: "Apple's IDs are ten capital letters and digits."
    )
    static let sameIDs = Text(
        ko: "팀 ID와 키 ID가 같습니다. 둘은 서로 다른 값입니다.",
        en: "Team ID and key ID are equal. They are different values."
    )
    static let emptyFile = Text(ko: "파일이 비어 있습니다.", en: "The file is empty.")
    static let bigFile = Text(
        ko: "파일이 너무 큽니다. 키와 인증서는 48 KB보다 작습니다.",
        en: "The file is too large. Keys and certificates are smaller than 48 KB."
    )
    static let request = Text(
        ko: "인증서 서명 요청(CSR)입니다. Apple에 올린 뒤 받은 인증서를 개인 키와 함께 .p12로 내보내 등록하세요.",
        en:
            "This is a certificate signing request. Upload it to Apple, then export the certificate with its key as a .p12."
    )
    static let bareCertificate = Text(
        ko: "개인 키가 없는 인증서(.cer)입니다. 키체인 접근에서 개인 키와 함께 .p12로 내보내세요.",
        en: "This is a certificate without its private key (.cer). Export both as a .p12 from Keychain Access."
    )
    static let publicKey = Text(
        ko: "공개 키입니다. Apple에서 한 번만 내려받을 수 있는 .p8 개인 키가 필요합니다.",
        en: "This is a public key. Upload the private key, the .p8 that Apple offers once for download."
    )
    static let otherKey = Text(
        ko: "APNs 인증 키가 아닌 개인 키입니다. Apple에서 받은 .p8 파일을 등록하세요.",
        en: "This private key is not an APNs key. Upload the .p8 file from Apple."
    )
    static let profile = Text(
        ko: "프로비저닝 프로파일입니다. APNs 키(.p8)나 인증서(.p12)를 등록하세요.",
        en: "This is a provisioning profile. Upload an APNs key (.p8) or certificate (.p12)."
    )
    static let unknownFile = Text(
        ko: "APNs 키나 인증서로 읽을 수 없는 파일입니다. .p8, .p12 또는 .pem 파일을 등록하세요.",
        en: "The file is neither an APNs key nor a certificate. Upload a .p8, .p12 or .pem file."
    )

    static func otherKeyID(_ named: String) -> Text {
        Text(
            ko: "파일 이름에 따르면 키 ID는 \(named)입니다. 파일이나 키 ID 중 하나가 맞지 않습니다.",
            en: "By its name the file is the key \(named). Either the file or the key ID is wrong."
        )
    }

    // MARK: How to obtain one

    static let howKey = Text(ko: ".p8 키 발급 방법 (권장)", en: "How to obtain a .p8 key (recommended)")
    static let howKeySteps = [
        Text(
            ko:
                "1. developer.apple.com/account 에서 Certificates, Identifiers & Profiles → Keys를 엽니다. Account Holder 또는 Admin 역할이 필요합니다.",
            en:
                "1. Open Certificates, Identifiers & Profiles → Keys at developer.apple.com/account. It needs the role Account Holder or Admin."
        ),
        Text(
            ko: "2. + 를 누르고 이름을 입력한 뒤 Apple Push Notifications service (APNs)를 선택합니다. 환경은 Sandbox & Production으로 둡니다.",
            en:
                "2. Press +, enter a name, and select Apple Push Notifications service (APNs). Leave the environment at Sandbox & Production."
        ),
        Text(
            ko: "3. Register를 누르고 AuthKey_키ID.p8 파일을 내려받습니다. 한 번만 내려받을 수 있습니다.",
            en: "3. Press Register and download AuthKey_KEYID.p8. It can be downloaded once only."
        ),
        Text(
            ko: "4. 키 ID는 파일 이름에, 팀 ID는 Membership details에 있습니다. 아래 양식에 파일과 함께 입력합니다.",
            en:
                "4. The key ID is in the file's name, the team ID under Membership details. Enter both with the file in the form."
        ),
        Text(
            ko: "키는 만료되지 않으며, 토픽을 지정하지 않으면 팀의 모든 앱에 사용할 수 있습니다.",
            en: "A key does not expire. It serves all apps of the team unless it was limited to topics."
        ),
    ]
    static let howCertificate = Text(ko: ".p12 인증서 발급 방법", en: "How to obtain a .p12 certificate")
    static let howCertificateSteps = [
        Text(
            ko: "1. Mac의 키체인 접근에서 인증서 지원 → 인증 기관에서 인증서 요청으로 CSR을 만듭니다.",
            en:
                "1. In Keychain Access on a Mac, choose Certificate Assistant → Request a Certificate from a Certificate Authority."
        ),
        Text(
            ko:
                "2. Certificates → + → Apple Push Notification service SSL (Sandbox & Production)을 선택하고 앱의 번들 ID와 CSR을 지정합니다.",
            en:
                "2. Under Certificates → +, choose Apple Push Notification service SSL (Sandbox & Production), the bundle ID, and the request."
        ),
        Text(
            ko: "3. 내려받은 .cer을 더블 클릭해 키체인에 추가하고, 개인 키와 함께 선택해 .p12로 내보냅니다.",
            en:
                "3. Open the downloaded .cer, select it with its private key in the keychain, and export both as a .p12 with a passphrase."
        ),
        Text(ko: "인증서는 1년마다 갱신해야 합니다.", en: "A certificate must be renewed each year."),
    ]

    // MARK: Sentences

    static let empty = Text(ko: "아직 인증서·키가 없습니다.", en: "There are no credentials yet.")
    static let emptyStep = Text(
        ko: "아래 양식에서 .p8 또는 .p12 파일을 등록하세요.",
        en: "Upload a .p8 or .p12 file in the form below."
    )

    static func allValid(_ count: String) -> Text {
        Text(
            ko: "인증서·키 \(count)개가 모두 정상입니다.",
            en: count == "1" ? "The credential is valid." : "All \(count) credentials are valid."
        )
    }

    static func refusedSince(_ id: String, _ reason: String, _ since: String) -> Text {
        Text(
            ko: "발신이 중지되었습니다. \(id) 인증서·키가 \(since)부터 거절됩니다(\(reason)).",
            en: "Deliveries are paused: credential \(id) is refused (\(reason)) since \(since)."
        )
    }

    static func cannotSend(_ id: String, _ finding: String) -> Text {
        Text(
            ko: "\(id) 인증서·키로는 발신할 수 없습니다. \(finding)",
            en: "Credential \(id) cannot send. \(finding)"
        )
    }

    static func expiresIn(_ id: String, _ days: String) -> Text {
        Text(
            ko: "\(id) 인증서가 \(days)일 뒤 만료됩니다. 새 인증서를 등록하세요.",
            en: "Certificate \(id) expires in \(days, one: "day"). Upload a new one."
        )
    }

    static func works(_ id: String, _ until: String?) -> Text {
        guard let until else { return Text(ko: "\(id) 인증서·키는 정상입니다.", en: "Credential \(id) is valid.") }
        return Text(
            ko: "\(id) 인증서는 정상입니다. \(until)까지 유효합니다.",
            en: "Certificate \(id) is valid until \(until)."
        )
    }

    /// The environment of Apple's service, by its name in answers; another one as it is.
    static func environment(_ name: String) -> Text {
        switch name {
        case "production": Text(ko: "운영용", en: "production")
        case "sandbox": Text(ko: "개발용", en: "sandbox")
        default: Text(ko: name, en: name)
        }
    }
}
