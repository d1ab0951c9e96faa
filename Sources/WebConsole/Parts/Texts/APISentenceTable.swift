/// Sentences of the API with their values as `{}`, and the Korean ones with the numbers of the values.
enum APISentenceTable {
    static let all = diagnosis + reasons

    private static let diagnosis: [(en: String, ko: String)] = [
        (
            "The app is provisioned.",
            "앱이 등록되어 있습니다."
        ),
        (
            "The app was removed from provisioning.",
            "앱이 설정에서 삭제되었습니다."
        ),
        (
            "Add the app to the provisioning file and apply it.",
            "설정 파일에 앱을 추가하고 적용하세요."
        ),
        (
            "The gateway sends to {}.",
            "게이트웨이가 {1}에 발신합니다."
        ),
        (
            "The rules of the app send to the device through the upstream {}.",
            "앱의 라우팅 규칙이 업스트림 {1}을(를) 통해 이 단말에 발신합니다."
        ),
        (
            "Nothing prevents a push to this device now.",
            "지금 이 단말로의 발신을 막는 조건이 없습니다."
        ),
        (
            "The app has no credential for {}.",
            "앱에 {1}용 인증서·키가 없습니다."
        ),
        (
            "The app has no topic for {}.",
            "앱에 {1}용 토픽이 없습니다."
        ),
        (
            "Add it to the app's platforms in the provisioning file and apply it.",
            "앱의 platforms에 추가하고 적용하세요."
        ),
        (
            "Pushes for {} use topic {}, credential {}.",
            "{1} 푸시는 토픽 {2}, 인증서·키 {3}을(를) 사용합니다."
        ),
        (
            "Pushes for {} use credential {}.",
            "{1} 푸시는 인증서·키 {2}을(를) 사용합니다."
        ),
        (
            "The app has no route for the device.",
            "앱에 이 단말로 발신할 토픽이나 인증서·키가 없습니다."
        ),
        (
            "The credential {} is not provisioned.",
            "인증서·키 {1}이(가) 등록되어 있지 않습니다."
        ),
        (
            "Add it to the tenant's credentials in the provisioning file and apply it.",
            "테넌트의 인증서·키에 추가하고 적용하세요."
        ),
        (
            "The push service has not refused the credential {}.",
            "푸시 서비스가 인증서·키 {1}을(를) 거절하지 않았습니다."
        ),
        (
            "The push service refuses the credential {} with {}: {}",
            "푸시 서비스가 인증서·키 {1}을(를) {2}(으)로 거절합니다. {3}"
        ),
        (
            "The push service refuses the credential {} with {}.",
            "푸시 서비스가 인증서·키 {1}을(를) {2}(으)로 거절합니다."
        ),
        (
            "The push service reported {}.",
            "푸시 서비스가 {1}을(를) 알렸습니다."
        ),
        (
            "The device has a token.",
            "단말에 토큰이 있습니다."
        ),
        (
            "The device has no token.",
            "단말에 토큰이 없습니다."
        ),
        (
            "The token is invalid.",
            "토큰이 만료되었습니다."
        ),
        (
            "The token is quarantined.",
            "토큰 사용이 보류되었습니다."
        ),
        (
            "The push service rejected the token with {}: {}",
            "푸시 서비스가 토큰을 {1}(으)로 거절했습니다. {2}"
        ),
        (
            "The push service rejected the token with {}.",
            "푸시 서비스가 토큰을 {1}(으)로 거절했습니다."
        ),
        (
            "The tenant's lane {} is not paused.",
            "발신 구분 {1}이(가) 중지되어 있지 않습니다."
        ),
        (
            "The tenant's lane {} is paused.",
            "발신 구분 {1}이(가) 일시 중지되어 있습니다."
        ),
        (
            "Set is_paused of the lane to false in the table gateway.lane.",
            "gateway.lane 테이블에서 해당 구분의 is_paused를 false로 변경하세요."
        ),
        (
            "The registration is active.",
            "등록되어 있습니다."
        ),
        (
            "The device has no active registration.",
            "단말에 유효한 등록이 없습니다."
        ),
        (
            "The registration has ended.",
            "등록 기간이 끝났습니다."
        ),
        (
            "The app has to register again.",
            "앱이 다시 등록해야 합니다."
        ),
        (
            "Another registration replaced this one.",
            "다른 등록이 이 등록을 대체했습니다."
        ),
        (
            "The app ended the registration.",
            "앱이 등록을 해지했습니다."
        ),
        (
            "The registration was removed.",
            "등록이 삭제되었습니다."
        ),
        (
            "The gateway writes payloads for {}.",
            "게이트웨이가 {1} 형식의 페이로드를 만듭니다."
        ),
        (
            "The user accepts pushes.",
            "사용자가 푸시를 허용합니다."
        ),
        (
            "The device's system does not show notifications of the app.",
            "단말의 시스템 설정에서 앱의 알림이 꺼져 있습니다."
        ),
        (
            "The user has to allow them in the settings of the device.",
            "사용자가 단말 설정에서 알림을 허용해야 합니다."
        ),
        (
            "The level of the user is {}; messages of the lane {} need {}.",
            "사용자의 확인 수준은 {1}이며, 발신 구분 {2}에는 {3}이(가) 필요합니다."
        ),
        (
            "Messages to the user, phone or groups reach only another identity, which has a higher level.",
            "사용자, 전화번호, 그룹 대상 메시지는 수준이 더 높은 다른 등록에만 발신됩니다."
        ),
        (
            "No identity of a higher level excludes this one.",
            "수준이 더 높은 등록 때문에 제외되지 않습니다."
        ),
        (
            "The user has opted in to pushes.",
            "사용자가 수신에 동의했습니다."
        ),
        (
            "The user has not opted in to pushes, which only messages with the consent optedIn need.",
            "사용자가 수신에 동의하지 않았습니다. optedIn 동의가 필요한 메시지에만 해당합니다."
        ),
        (
            "Nothing, unless such messages are missing.",
            "해당 메시지가 오지 않는 경우가 아니라면 조치할 필요가 없습니다."
        ),
        (
            "The user has not unsubscribed from a subject.",
            "사용자가 수신을 거부한 주제가 없습니다."
        ),
        (
            "The user has unsubscribed from: {}.",
            "사용자가 수신을 거부한 주제: {1}"
        ),
        (
            "Nothing, until the user subscribes again; messages about other subjects are sent.",
            "사용자가 다시 동의할 때까지 조치할 필요가 없습니다. 다른 주제의 메시지는 발신됩니다."
        ),
        (
            "It is not in quiet hours of the app.",
            "앱의 방해 금지 시간이 아닙니다."
        ),
        (
            "No receiving window excludes this time.",
            "수신 허용 시간에 해당합니다."
        ),
        (
            "Nothing: the message is sent then.",
            "그 시각에 발신되므로 조치할 필요가 없습니다."
        ),
        (
            "No cap applies.",
            "발신 횟수 제한이 없습니다."
        ),
        (
            "The device was sent {} of at most {} messages in the last {} hours.",
            "최근 {3}시간 동안 최대 {2}건 중 {1}건을 발신했습니다."
        ),
        (
            "No delivery to the device is stored.",
            "이 단말로 발신한 기록이 없습니다."
        ),
        (
            "The SDK on the device does not report receipts.",
            "단말의 SDK가 수신 확인을 지원하지 않습니다."
        ),
        (
            "None of the latest pushes was sent.",
            "최근 푸시 중 발신된 것이 없습니다."
        ),
        (
            "The device reported the receipt of the latest push.",
            "단말이 최근 푸시의 수신을 알렸습니다."
        ),
        (
            "The device has not reported the receipt of the latest push.",
            "단말이 최근 푸시의 수신을 알리지 않았습니다."
        ),
        (
            "Check that the device is online and that the app calls the SDK when a push arrives.",
            "단말이 네트워크에 연결되어 있는지, 푸시가 도착할 때 앱이 SDK를 호출하는지 확인하세요."
        ),
        (
            "It has left the queue, and its outcome is not written yet.",
            "대기열을 벗어났으며 결과가 아직 기록되지 않았습니다."
        ),
        (
            "It was sent, but the answer was lost: the push service may or may not have accepted it.",
            "발신했으나 응답을 받지 못했습니다. 푸시 서비스의 접수 여부를 알 수 없습니다."
        ),
        (
            "The push service has accepted it; the device has not reported its receipt.",
            "푸시 서비스가 접수했으며, 단말이 수신을 알리지 않았습니다."
        ),
        (
            "The device has reported its receipt.",
            "단말이 수신을 알렸습니다."
        ),
        (
            "The user has opened it.",
            "사용자가 열었습니다."
        ),
        (
            "It was not delivered, and will not be tried again.",
            "접수되지 않았으며 다시 시도하지 않습니다."
        ),
        (
            "It was not sent.",
            "발신하지 않았습니다."
        ),
        (
            "It expired before it could be sent.",
            "발신하기 전에 만료되었습니다."
        ),
        (
            "The message was canceled before it was sent.",
            "발신하기 전에 메시지가 취소되었습니다."
        ),
        (
            "It is reserved for {}.",
            "{1}에 예약되어 있습니다."
        ),
        (
            "It was tried too often ({}) and waits until the message is requeued or expires.",
            "여러 번 시도했으나({1}) 실패하여, 재발신되거나 만료될 때까지 대기합니다."
        ),
        (
            "It waits: the message or its lane is paused.",
            "메시지 또는 발신 구분이 일시 중지되어 대기합니다."
        ),
        (
            "It waits for the credential {}, which was refused with {}; the next try is at {}, or when the credential is applied again.",
            "{2}(으)로 거절된 인증서·키 {1}을(를) 기다립니다. {3}에 또는 인증서·키가 다시 적용되면 시도합니다."
        ),
        (
            "It waits for the credential {}; the next try is at {}, or when the credential is applied again.",
            "인증서·키 {1}을(를) 기다립니다. {2}에 또는 인증서·키가 다시 적용되면 시도합니다."
        ),
        (
            "A node is sending it; if that node dies, another takes over at {}.",
            "노드가 발신하고 있습니다. 노드가 중단되면 {1}에 다른 노드가 이어서 발신합니다."
        ),
        (
            "It is queued; its next try is at {}; tries so far: {}.",
            "대기 중이며 다음 시도는 {1}입니다. 지금까지 {2}회 시도했습니다."
        ),
        (
            "It is queued; its next try is at {}.",
            "대기 중이며 다음 시도는 {1}입니다."
        ),
        (
            "It waits until {}, because it is then {} in the device's time zone, {}.",
            "단말의 시간대 {3}에서 {2}이(가) 되는 {1}까지 기다립니다."
        ),
        (
            "It waits until {}, because of the app's quiet hours, {} in {}.",
            "앱의 방해 금지 시간({3} {2}) 때문에 {1}까지 기다립니다."
        ),
        (
            "It waits until {}, because of the device's receiving window, {} in {}.",
            "단말의 수신 허용 시간({3} {2}) 때문에 {1}까지 기다립니다."
        ),
        (
            "It was not delivered, and will not be tried again. {}",
            "접수되지 않았으며 다시 시도하지 않습니다. {1}"
        ),
        (
            "It was not sent. {}",
            "발신하지 않았습니다. {1}"
        ),
        (
            "It expired before it could be sent. {}",
            "발신하기 전에 만료되었습니다. {1}"
        ),
    ]
}
