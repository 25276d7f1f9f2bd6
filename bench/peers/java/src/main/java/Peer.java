import com.amazonaws.services.dynamodbv2.AcquireLockOptions;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClient;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBLockClientOptions;
import com.amazonaws.services.dynamodbv2.LockItem;
import com.amazonaws.services.dynamodbv2.model.LockCurrentlyUnavailableException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.StringJoiner;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.dynamodb2.DynamoDBLockProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * Does what it reads, "OPERATION FROM TO" a line, once for each number from FROM to TO - 1, over one warm
 * connection, and answers with a line of JSON: the microseconds that each took.
 * Arguments: lockclient or shedlock, the endpoint, the table.
 */
public final class Peer {
  interface Lock {
    void run(String operation, String key) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    DynamoDbClient client =
        DynamoDbClient.builder()
            .endpointOverride(URI.create(args[1]))
            .region(Region.EU_WEST_1)
            .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("ministack", "secret")))
            .httpClient(ApacheHttpClient.create())
            .build();
    Lock lock = args[0].equals("lockclient") ? lockClient(client, args[2]) : shedLock(client, args[2]);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      StringJoiner took = new StringJoiner(",", "[", "]");
      for (int i = Integer.parseInt(words[1]); i < Integer.parseInt(words[2]); i++) {
        long began = System.nanoTime();
        lock.run(words[0], "job-" + i);
        took.add(Long.toString((System.nanoTime() - began) / 1000));
      }
      System.out.println(took);
    }
    System.exit(0); // the clients keep threads
  }

  /** Two owners: the second is refused. Neither beats on its own. */
  static Lock lockClient(DynamoDbClient client, String table) {
    AmazonDynamoDBLockClient holder = owner(client, table, "holder");
    AmazonDynamoDBLockClient other = owner(client, table, "other");
    Map<String, LockItem> held = new HashMap<>();
    return (operation, key) -> {
      switch (operation) {
        case "claim" -> held.put(key, holder.tryAcquireLock(options(key)).orElseThrow());
        case "skip" -> expect(refused(other, key), "second owner got " + key);
        case "beat" -> holder.sendHeartbeat(held.get(key));
        case "settle" -> expect(holder.releaseLock(held.remove(key)), "not released: " + key);
        default -> throw new IllegalArgumentException(operation);
      }
    };
  }

  static AmazonDynamoDBLockClient owner(DynamoDbClient client, String table, String name) {
    return new AmazonDynamoDBLockClient(
        AmazonDynamoDBLockClientOptions.builder(client, table)
            .withOwnerName(name)
            .withLeaseDuration(600L)
            .withHeartbeatPeriod(60L)
            .withCreateHeartbeatBackgroundThread(false)
            .build());
  }

  static AcquireLockOptions options(String key) {
    return AcquireLockOptions.builder(key).withDeleteLockOnRelease(true).withShouldSkipBlockingWait(true).build();
  }

  static boolean refused(AmazonDynamoDBLockClient other, String key) throws InterruptedException {
    try {
      return other.tryAcquireLock(options(key)).isEmpty();
    } catch (LockCurrentlyUnavailableException e) {
      return true;
    }
  }

  static Lock shedLock(DynamoDbClient client, String table) {
    LockProvider provider = new DynamoDBLockProvider(client, table);
    Map<String, SimpleLock> held = new HashMap<>();
    return (operation, key) -> {
      switch (operation) {
        case "claim" -> held.put(key, provider.lock(tenMinutes(key)).orElseThrow());
        case "skip" -> expect(provider.lock(tenMinutes(key)).isEmpty(), "locked twice: " + key);
        case "settle" -> held.remove(key).unlock();
        default -> throw new IllegalArgumentException(operation);
      }
    };
  }

  static LockConfiguration tenMinutes(String key) {
    return new LockConfiguration(Instant.now(), key, Duration.ofMinutes(10), Duration.ZERO);
  }

  static void expect(boolean condition, String otherwise) {
    if (!condition) {
      throw new IllegalStateException(otherwise);
    }
  }
}
